/* SPDX-License-Identifier: MIT */
/* `afteryou agent`: hands over to the program afteryou-agent, which alone needs Corosync's
 * libraries. */
#include "cli/agent/agent_words.h"
#include "cli/commands.h"

int command_agent(int count, char **words)
{
    struct service_options asked;
    const int status = agent_words_parse(count, words, &asked);
    if (status)
        return status < 0 ? 0 : status;
    words[0] = (char[]){"afteryou-agent"};
    return hand_over("agent", words[0], "afteryou-cluster", words);
}
