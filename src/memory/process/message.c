/* SPDX-License-Identifier: MIT */
/* What went wrong, in words: one line a thread. */
#include <stdarg.h>
#include <stdio.h>

#include "common/printable.h"
#include "memory/memory.h"

/* counts against the linker's few spare bytes (see memory.h, ay__thread) */
static _Thread_local char message[512];

const char *ay_message(void)
{
    return message;
}

int ay__fail(int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    make_printable(message); /* it may quote names and commands of others */
    return error;
}
