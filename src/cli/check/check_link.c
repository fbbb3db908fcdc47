/* SPDX-License-Identifier: MIT */
/* `afteryou check` of the link that carries messages between two agents: the search, and its
 * report. */
#include <stdio.h>
#include <string.h>

#include "cli/check/check.h"
#include "cli/commands.h"

static void report_text(FILE *out, const struct check_words *asked, const struct search *search,
                        const struct verdict *verdict)
{
    char described[CHECK_DESCRIPTION];
    check_describe(asked, described, sizeof described);
    fprintf(out, "%s: %s\n", asked->link.variant->name, described);
    check_print_states(out, search);
    fprintf(out, "  delivery: %s\n", check_answer(verdict->finding[PROPERTY_SAFETY].answer));
    fprintf(out, "  progress: %s\n", check_answer(verdict->finding[PROPERTY_PROGRESS].answer));
    fprintf(out, "  lockout: %s\n", check_answer(verdict->finding[PROPERTY_LOCKOUT].answer));
    fprintf(out, "  reached: %s\n", check_answer(verdict->finding[PROPERTY_REACHED].answer));
    check_print_messages_run(out, search, verdict, "end");
}

int check_link(const struct check_words *asked)
{
    struct link_model model;
    link_model_open(&model, &asked->link);
    struct verdict verdict = {.properties = CHECK_MESSAGES_PROMISES};
    struct search search = {.system = &model.system, .limits = asked->limits};
    const int error = verdict_reach(&search, &verdict);
    int status;
    if (error) {
        status =
            usage_error("check", "cannot begin the search: %s; raise --memory, or free some memory",
                        strerror(-error));
    } else {
        const struct finding *broken = check_first_broken(&verdict);
        (asked->json ? check_report_link_json : report_text)(stdout, asked, &search, &verdict);
        status = broken ? EXIT_VIOLATED : search.end == SEARCH_EXHAUSTED ? EXIT_HOLDS : EXIT_LIMIT;
        const int drawn =
            asked->svg && broken && broken != &verdict.finding[PROPERTY_REACHED]
                ? check_messages_draw(asked->svg, asked->link.variant->name, "end", 2, broken)
                : 0;
        if (drawn)
            status = usage_error("check", "cannot write %s: %s", asked->svg, strerror(-drawn));
    }
    verdict_close(&verdict);
    search_close(&search);
    return status;
}
