/* SPDX-License-Identifier: MIT */
/* What the files of `afteryou check` share: the words of the command line, and the answer. */
#ifndef AFTERYOU_CLI_CHECK_CHECK_H
#define AFTERYOU_CLI_CHECK_CHECK_H

#include <stdio.h>

#include "afteryou.h"
#include "check/messages/link_model.h"
#include "check/messages/messages_model.h"
#include "check/registers/catalogue.h"
#include "check/registers/symmetry.h"
#include "check/search/sample.h"
#include "check/search/verdict.h"
#include "common/draw/spacetime.h"

enum check_memory { CHECK_SC, CHECK_TSO, CHECK_C11 };
enum check_precedence { CHECK_IN_ORDER, CHECK_WRITERS_FIRST, CHECK_PRIORITY };
/* In a set of modes, beside those of ay_mode: exclusive and shared. */
enum { CHECK_BOTH = AY_NULL + 1 };
/* In a set of properties, where those of enum messages_property begin: the first of them,
 * exclusion, has the name of one that stands before. */
enum { CHECK_MESSAGES_PROPERTIES = PROPERTY_COUNT - 1 };

struct check_words {
    const char *protocol;
    unsigned count; /* of places, or of nodes; 0: as the protocol has it */
    unsigned modes; /* a set of ay_mode and CHECK_BOTH; 0: as the protocol has it */
    struct search_limits limits;
    unsigned properties; /* those asked for; 0: those promised */
    unsigned victim;     /* the place whose lockout is judged, as a bit; 0: everybody's */
    unsigned overtaken;  /* overtaking is broken by more than this; 0: by no bound alone */
    unsigned interval;   /* steps in a round; 0: as many as a doorway has */
    const char *svg;
    bool json, list;
    /* a protocol of registers: .protocol is not NULL */
    struct register_model model;
    enum check_precedence precedence;
    enum check_memory memory_model;
    bool symmetric;
    struct symmetry symmetry;
    struct weakening weakened[WEAKENED_MOST]; /* the model has as many of them as were given */
    struct sample_plan sample; /* random schedules, instead of all; none if .runs is 0 */
    /* a message protocol: .variant is not NULL */
    struct messages_options messages;
    bool network_given;
    /* a link: .variant is not NULL */
    struct link_options link;
};

/* 0 to go on; negative if all is said and done (--help, --list), or EXIT_USAGE after saying what is
 * wrong. */
int check_words_parse(int count, char **words, struct check_words *asked);
/* check_settle.c: the protocol of that name, and what the words leave open. 0, or EXIT_USAGE after
 * saying what is wrong. */
int check_find(struct check_words *asked);
int check_settle(struct check_words *asked);
/* The properties that this protocol promises in this configuration, a bit each. */
unsigned check_promises(const struct register_model *model);

/* check.c: of a protocol of registers. The processes whose lockout is judged, a bit each; 0:
 * everybody's. */
unsigned check_victims(const struct check_words *asked);
/* Says that a search of whatever kind could not begin. An exit status. */
int check_not_begun(int error);
/* The search, and what is judged in it. */
void check_begin(const struct check_words *asked, struct search *search, struct verdict *verdict);

/* What was asked, in one line: "n = 3, deaths after any step". */
void check_describe(const struct check_words *asked, char *text, size_t room);
enum { CHECK_DESCRIPTION = 320 };

void check_report_text(FILE *out, const struct check_words *asked, const struct search *search,
                       const struct verdict *verdict, unsigned promised);
/* check_json.c: one line each. */
void check_report_json(FILE *out, const struct check_words *asked, const struct search *search,
                       const struct verdict *verdict, unsigned promised);
void check_report_sample(FILE *out, const struct check_words *asked,
                         const struct sample_result *result);
void check_report_sample_json(FILE *out, const struct check_words *asked,
                              const struct sample_result *result);
void check_report_messages_json(FILE *out, const struct check_words *asked,
                                const struct search *search, const struct messages_model *model,
                                const struct verdict *verdict);
void check_report_link_json(FILE *out, const struct check_words *asked, const struct search *search,
                            const struct messages_model *none, const struct verdict *verdict);
/* check_draw.c: a run of registers as a space-time diagram. 0, or a negative errno. */
int check_draw_run(const char *path, const struct check_words *asked, const struct check_run *run,
                   const char *broken);
/* The first broken property's run. */
int check_draw(const char *path, const struct check_words *asked, const struct verdict *verdict);
/* A bar for every stretch in which a process waits, is inside, or is dead. */
void check_draw_bars(struct spacetime *diagram, const struct check_run *run, unsigned processes);

/* Words for people: "broken", "12,345". */
const char *check_answer(enum answer answer);
const char *check_end(enum search_end end);
void check_print_run(FILE *out, const struct check_run *run, const struct register_model *model);

/* check_messages.c, check_link.c: the same of a message protocol, and of a link. An exit status. */
int check_messages(const struct check_words *asked);
int check_link(const struct check_words *asked);
/* A search of messages: what is searched, and how it is told. */
struct check_telling {
    const struct system *system;
    const struct messages_model *messages; /* NULL: of a link */
    unsigned properties;
    const char *name, *who; /* in the picture: of what, and "node" or "end" */
    unsigned nodes;
    void (*report)(FILE *out, const struct check_words *asked, const struct search *search,
                   const struct messages_model *messages, const struct verdict *verdict);
};
/* Searches and tells. An exit status. */
int check_told(const struct check_words *asked, const struct check_telling *telling);
/* How far the search came; the run of the first broken property, in lines of "node 1 …". */
void check_print_states(FILE *out, const struct search *search);
void check_print_messages_run(FILE *out, const struct search *search, const struct verdict *verdict,
                              const char *who);
#define CHECK_MESSAGES_PROMISES                                                                    \
    (1u << PROPERTY_SAFETY | 1u << PROPERTY_PROGRESS | 1u << PROPERTY_LOCKOUT |                    \
     1u << PROPERTY_REACHED)
/* Whether the search saw what a passage costs: nobody crashed, and all passages came to an end. */
bool check_counts_messages(const struct check_words *asked, const struct messages_model *model,
                           const struct search *search);
/* NULL: nothing is broken. */
const struct finding *check_first_broken(const struct verdict *verdict);
/* What it breaks: "fence: …", "progress". */
const char *check_broken(const struct verdict *verdict, const struct finding *finding);
/* "reordered", "fifo", "agreed". */
const char *check_network(enum channels channels);
/* check_messages_draw.c: the run that breaks it, as a space-time diagram; `who` is "node", or
 * "end" of a link. 0 or a negative errno. */
int check_messages_draw(const char *path, const char *title, const char *who, unsigned nodes,
                        const struct finding *broken);

#endif
