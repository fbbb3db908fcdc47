/* SPDX-License-Identifier: MIT */
/* `afteryou status --serve`, where libmicrohttpd was missing when it was built. */
#include "cli/commands.h"
#include "cli/status/status.h"

int status_serve(const struct status_words *asked)
{
    (void)asked;
    return usage_error("status", "this afteryou was built without libmicrohttpd, which --serve "
                                 "needs: 'status --watch' shows the same on a terminal");
}
