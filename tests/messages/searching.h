/* SPDX-License-Identifier: MIT */
/* A model of messages, searched by a test: what is asked of every search, and what is expected of
 * one that holds and of one that breaks. */
#ifndef AFTERYOU_TESTS_MESSAGES_SEARCHING_H
#define AFTERYOU_TESTS_MESSAGES_SEARCHING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check/messages/messages_model.h"
#include "check/search/verdict.h"

static inline void search_messages(const struct messages_options *options,
                                   struct messages_model *model, struct search *found,
                                   struct verdict *verdict)
{
    assert_non_null(options->variant);
    assert_null(messages_model_open(model, options));
    *found = (struct search){.system = &model->system, .limits = {.memory = (size_t)2 << 30}};
    *verdict = (struct verdict){.properties = 1u << PROPERTY_SAFETY | 1u << PROPERTY_PROGRESS |
                                              1u << PROPERTY_LOCKOUT | 1u << PROPERTY_REACHED};
    assert_int_equal(verdict_reach(found, verdict), 0);
}

/* The run that breaks safety, a line for each move. */
static inline void tell_run(const struct verdict *verdict, char *story, size_t room)
{
    const struct check_run *run = &verdict->finding[PROPERTY_SAFETY].run;
    story[0] = '\0';
    for (size_t i = 0; i < run->count; i++) {
        const size_t used = strlen(story);
        snprintf(story + used, room - used, "%u %s\n", run->steps[i].move.process,
                 run->steps[i].line);
    }
}

static inline void end_search(struct search *found, struct verdict *verdict)
{
    verdict_close(verdict);
    search_close(found);
}

static inline void expect_holds(const char *name, struct search *found, struct verdict *verdict)
{
    if (found->end == SEARCH_VIOLATED)
        fail_msg("%s: %s", name, found->violated);
    assert_int_equal(found->end, SEARCH_EXHAUSTED);
    assert_int_equal(verdict->finding[PROPERTY_PROGRESS].answer, ANSWER_HOLDS);
    assert_int_equal(verdict->finding[PROPERTY_LOCKOUT].answer, ANSWER_HOLDS);
    assert_int_equal(verdict->finding[PROPERTY_REACHED].answer, ANSWER_HOLDS);
    end_search(found, verdict);
}

/* What is found begins with `breaks`, after so many steps. */
static inline void expect_breaks(const char *name, const char *breaks, size_t steps,
                                 struct search *found, struct verdict *verdict)
{
    print_message("%-40s %s\n", name, found->violated ? found->violated : "holds?");
    assert_int_equal(found->end, SEARCH_VIOLATED);
    assert_memory_equal(found->violated, breaks, strlen(breaks));
    assert_int_equal(verdict->finding[PROPERTY_SAFETY].run.count, steps);
    end_search(found, verdict);
}

#endif
