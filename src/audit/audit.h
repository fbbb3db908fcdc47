/* SPDX-License-Identifier: MIT */
/* Judges a recorded run by causality: Garg's Safety, Liveness and Fairness, and that fences grow.
 */
#ifndef AFTERYOU_AUDIT_AUDIT_H
#define AFTERYOU_AUDIT_AUDIT_H

#include <stdio.h>

#include "audit/trace.h"

enum audit_property {
    PROPERTY_RUN,    /* it is a run at all: receives follow sends, leavings follow entries, … */
    PROPERTY_SAFETY, /* s ∥ t ⇒ ¬(cs(s) ∧ cs(t)) */
    /* an entry's fence is greater than that of every earlier conflicting entry */
    PROPERTY_FENCE,
    PROPERTY_LIVENESS, /* req(s) ⇒ ∃t: s ≺ t ∧ cs(t), and cs(s) ⇒ ∃t: s ≺ t ∧ ¬req(t) */
    PROPERTY_FAIRNESS, /* req_start(s) ∧ req_start(t) ∧ s → t ⇒ next_cs(s) → next_cs(t) */
    PROPERTIES
};

/* What the first violation of a property was. */
struct audit_finding {
    bool found;
    /* the offending pair, as indices into the trace; the same twice: one alone */
    size_t record, other;
    char words[1024]; /* long names are cut */
};

struct audit {
    struct audit_finding findings[PROPERTIES];
    uint64_t entries, overtaken; /* overtaken: entries before a request that happened before */
    /* at the end, where the trace does not say that all came to rest */
    uint64_t open_requests;
    bool fairness_judged, liveness_judged;
};

/* 0, or -ENOMEM. `fair`: judge fairness even if the trace does not claim it. */
int audit_judge(const struct trace *trace, bool fair, struct audit *audit);
const char *audit_property_name(enum audit_property property);
bool audit_holds(const struct audit *audit);

/* The space-time diagram of `length` records around the first violation (or from the beginning). 0,
 * or a negative errno. */
int audit_draw(const struct trace *trace, const struct audit *audit, size_t length, FILE *out);

#endif
