/* SPDX-License-Identifier: MIT */
/* Names of users, as the machine's services know them. Not for `afteryou` itself, which may be
 * linked statically. */
#include <pwd.h>

#include "cli/text.h"

void text_user(unsigned uid, char *text, size_t room)
{
    const struct passwd *user = getpwuid(uid);
    if (user)
        snprintf(text, room, "%s", user->pw_name);
    else
        snprintf(text, room, "%u", uid);
}
