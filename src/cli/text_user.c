/* SPDX-License-Identifier: MIT */
/* Names of users, as the machine's services know them. Not for `afteryou` itself, which may be
 * linked statically. */
#include <pwd.h>

#include "cli/text.h"

void text_user(unsigned uid, char *text, size_t room)
{
    /* Of many rows most have one user, and each question reads a file. */
    static unsigned last;
    static char name[64];
    if (!*name || last != uid) {
        const struct passwd *user = getpwuid(uid);
        if (user)
            snprintf(name, sizeof name, "%s", user->pw_name);
        else
            snprintf(name, sizeof name, "%u", uid);
        last = uid;
    }
    snprintf(text, room, "%s", name);
}
