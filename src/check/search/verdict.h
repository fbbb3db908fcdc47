/* SPDX-License-Identifier: MIT */
/* The verdict on a system: each property, whether it holds, and a run that shows it where it does
 * not. */
#ifndef AFTERYOU_CHECK_SEARCH_VERDICT_H
#define AFTERYOU_CHECK_SEARCH_VERDICT_H

#include "check/search/run.h"
#include "check/search/search.h"

/* One list for names, command line, documents: identifier, name, meaning. */
/* clang-format off */
#define PROPERTIES(property)                                                                    \
    property(SAFETY, "exclusion", "none that conflict are inside at once, nor more than the slots")\
    property(PROGRESS, "progress", "from wherever somebody waits, somebody can still enter")    \
    property(LOCKOUT, "lockout", "nobody waits for ever on a weakly fair cycle")                \
    property(RELIABILITY, "reliability", "nor while others die and return, or give up, for ever")\
    property(ORDER, "order", "who was queued before a rival began is inside before it")         \
    property(OVERTAKING, "overtaking", "the times another enters while one waits are bounded")  \
    property(QUIET, "quiet", "if others stand still, one is inside or asleep after some steps") \
    property(GIVING_UP, "giving-up", "who gives up is outside after some steps of its own")     \
    property(ABLE, "able", "who waits with a true condition gets in without newcomers")         \
    property(PRECEDENCE, "precedence", "who should precede, and is seen to wait, enters first") \
    property(DOORWAY, "doorway", "one is past its doorway after some steps of its own")         \
    property(ADMISSION, "admission", "who need not wait is inside after some rounds of steps")  \
    property(RECOVERY, "recovery", "after the last error exclusion breaks finitely often")      \
    property(REACHED, "reached", "each enters, as it may ask to; as many together as may be")
/* clang-format on */

enum property {
#define PROPERTY_IDENTIFIER(identifier, name, meaning) PROPERTY_##identifier,
    PROPERTIES(PROPERTY_IDENTIFIER)
#undef PROPERTY_IDENTIFIER
        PROPERTY_COUNT
};

/* What is asked of states or moves one by one; all else needs the graph. */
#define PROPERTIES_OF_STATES (1u << PROPERTY_SAFETY | 1u << PROPERTY_REACHED)

const char *property_name(enum property property);
const char *property_meaning(enum property property);

enum { FINDING_DETAIL = 1024 };
enum answer { ANSWER_UNKNOWN, ANSWER_HOLDS, ANSWER_BROKEN, ANSWER_SKIPPED };

struct finding {
    enum answer answer;
    const char *broken; /* which safety property, if one is broken */
    char detail[FINDING_DETAIL];
    struct check_run run; /* how it is broken */
};

struct verdict {
    unsigned properties; /* in: which to judge, a bit each */
    bool newcomers;      /* in: progress may need them, since conditions do */
    unsigned overtaken;  /* in: overtaking is broken by more than this; 0: by no bound alone */
    unsigned interval;   /* in: events of each process in a round; 0: as many as a doorway has */
    struct finding finding[PROPERTY_COUNT];
    /* exact greatest numbers; -1: unbounded, -2: not measured */
    int overtakes_active, overtakes_queued;
    int doorway_steps; /* likewise; -2: not measured */
    struct {
        int events, most;
    } rounds; /* likewise */
};

/* Runs the search and judges. 0, or a negative errno if there was not even memory to begin. If the
 * search met a limit, what was not decided is ANSWER_UNKNOWN. */
int verdict_reach(struct search *search, struct verdict *verdict);
void verdict_close(struct verdict *verdict);

#endif
