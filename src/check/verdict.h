/* SPDX-License-Identifier: MIT */
/* The verdict on a system: each property, whether it holds, and a run that shows it where it does not. */
#ifndef AFTERYOU_CHECK_VERDICT_H
#define AFTERYOU_CHECK_VERDICT_H

#include "check/run.h"
#include "check/search.h"

/* One list for names, command line, documents: identifier, name, meaning. */
#define PROPERTIES(property)                                                                                           \
    property(SAFETY, "exclusion",                                                                                      \
             "no two that conflict are inside at once, nor more than the slots; also what else must"                   \
             " hold in every state and at every entry")                                                                \
        property(PROGRESS, "progress", "from every state in which somebody waits, somebody can still enter")           \
            property(LOCKOUT, "lockout", "nobody waits for ever on a weakly fair cycle")                               \
                property(RELIABILITY, "reliability", "nor while others die and return, or give up, again and again")   \
                    property(ORDER, "order", "who was queued before a conflicting other began is inside before it")    \
                        property(OVERTAKING, "overtaking", "the times another enters while one waits are bounded")     \
                            property(QUIET, "quiet",                                                                   \
                                     "if all others stand still, one is inside or asleep after some steps of its own") \
                                property(GIVING_UP, "giving-up",                                                       \
                                         "who gives up is outside after some steps of its own, whatever others do")

enum property {
#define PROPERTY_IDENTIFIER(identifier, name, meaning) PROPERTY_##identifier,
    PROPERTIES(PROPERTY_IDENTIFIER)
#undef PROPERTY_IDENTIFIER
        PROPERTY_COUNT
};

const char *property_name(enum property property);
const char *property_meaning(enum property property);

enum answer { ANSWER_UNKNOWN, ANSWER_HOLDS, ANSWER_BROKEN, ANSWER_SKIPPED };

struct finding {
    enum answer answer;
    const char *broken; /* which safety property, if one is broken */
    char detail[96];
    struct run run; /* how it is broken */
};

struct verdict {
    unsigned properties; /* in: which to judge, a bit each */
    bool newcomers;      /* in: progress may need them, since conditions do */
    struct finding finding[PROPERTY_COUNT];
    int overtakes_active, overtakes_queued; /* exact greatest numbers; -1: unbounded, -2: not measured */
};

/* Runs the search and judges. 0, or a negative errno if there was not even memory to begin. If the search met a limit,
 * what was not decided is ANSWER_UNKNOWN. */
int verdict_reach(struct search *search, struct verdict *verdict);
void verdict_close(struct verdict *verdict);

#endif
