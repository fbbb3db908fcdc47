/* SPDX-License-Identifier: MIT */
/* Agents that die, stop, are cut off and come back, for many seeds and all four protocols: never
 * two inside, fences that grow, and in the end everybody gets in.
 *
 * usage: storm [SEEDS [FIRST [PROTOCOL]]] */
#include <stdlib.h>

#include "blows.h"

static bool holds(uint64_t seed, const struct message_protocol *protocol)
{
    const char *what = blow(seed, protocol, 0);
    if (what)
        fprintf(stderr, "%s, seed %llu: %s\n", protocol->name, (unsigned long long)seed, what);
    return !what;
}

int main(int count, char **words)
{
    static const struct message_protocol *const protocols[] = {&carvalho_roucairol_protocol,
                                                               &ricart_agrawala_protocol,
                                                               &lamport_protocol, &token_protocol};
    const uint64_t seeds = count > 1 ? strtoull(words[1], NULL, 10) : 120,
                   first = count > 2 ? strtoull(words[2], NULL, 10) : 0;
    unsigned failures = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++)
        for (unsigned which = 0; which < 4; which++)
            if (count < 4 || strcmp(words[3], protocols[which]->name) == 0)
                failures += !holds(seed, protocols[which]);
    printf("%llu seeds, four protocols: %u failures\n", (unsigned long long)seeds, failures);
    return failures != 0;
}
