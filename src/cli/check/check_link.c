/* SPDX-License-Identifier: MIT */
/* `afteryou check` of the link that carries messages between two agents: the search, and its
 * report. */
#include <stdio.h>

#include "cli/check/check.h"
#include "cli/commands.h"

static void report_text(FILE *out, const struct check_words *asked, const struct search *search,
                        const struct messages_model *none, const struct verdict *verdict)
{
    (void)none;
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
    return check_told(asked, &(struct check_telling){
                                 .system = &model.system,
                                 .properties = CHECK_MESSAGES_PROMISES,
                                 .name = asked->link.variant->name,
                                 .who = "end",
                                 .nodes = 2,
                                 .report = asked->json ? check_report_link_json : report_text,
                             });
}
