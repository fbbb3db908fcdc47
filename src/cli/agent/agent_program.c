/* SPDX-License-Identifier: MIT */
/* The program afteryou-agent, which is `afteryou agent`: runs the agent of a cluster. It is a
 * program of its own, so that nothing else of `afteryou` needs Corosync's libraries. */
#include "agent/host/service.h"
#include "cli/agent/agent_words.h"
#include "cli/commands.h"
#include "common/descriptors.h"

int main(int count, char **words)
{
    if (!descriptors_fill_standard())
        return EXIT_USAGE; /* and no word: there may be no stderr */
    struct service_options asked;
    const int status = agent_words_parse(count, words, &asked);
    if (status)
        return output_end("agent", status < 0 ? 0 : status);
    const char *trouble = service_options_trouble(&asked);
    if (trouble)
        return usage_error("agent", "%s", trouble);
    return service_run(&asked);
}
