/* SPDX-License-Identifier: MIT */
/* The command `afteryou`. `run` and `flock` are started once for every passage: this program has
 * them, and nothing else, so that it starts fast. The rest is the program afteryou-tools. */
#include <string.h>

#include "cli/commands.h"
#include "common/descriptors.h"

int main(int count, char **words)
{
    if (!descriptors_fill_standard())
        return EXIT_USAGE; /* and no word: there may be no stderr */
    /* a link of that name, first in the PATH of old scripts */
    if (count > 0 && strcmp(basename(words[0]), "flock") == 0)
        return output_end("flock", command_flock(count, words));
    if (count > 1 && strcmp(words[1], "run") == 0)
        return output_end("run", command_run(count - 1, words + 1));
    if (count > 1 && strcmp(words[1], "flock") == 0)
        return output_end("flock", command_flock(count - 1, words + 1));
    return hand_over("", "afteryou-tools", "afteryou", words);
}
