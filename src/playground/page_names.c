/* SPDX-License-Identifier: MIT */
/* What cli/text.c tells the reader of words, where there are no users and no local time. */
#include "cli/text.h"
#include "protocols/modes.h"

const char *text_mode_at(size_t at)
{
    return at < MODES ? mode_name((unsigned)at) : NULL;
}
