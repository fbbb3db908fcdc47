/* SPDX-License-Identifier: MIT */
/* What the playground asks of the checker: one run of a protocol, made move by move by a person,
 * and the complete search, both answered as JSON.
 *
 * The words are those of `afteryou check`: what the command line takes, the page takes. A session
 * keeps every state of its run, so that any of them can be looked at again. Answers go to stdout,
 * complaints about words to stderr; the page, and the program of the same name, read both.
 */
#ifndef AFTERYOU_PLAYGROUND_PLAYGROUND_H
#define AFTERYOU_PLAYGROUND_PLAYGROUND_H

#include "check/registers/origin.h"
#include "cli/check/check.h"
#include "common/json.h"

enum { WORDS_MOST = 64, WORDS_ROOM = 2048 };

enum asked_kind { ASKED_REGISTERS, ASKED_MESSAGES, ASKED_LINK };

/* The words of a protocol, and the system that they describe. */
struct asked_system {
    enum asked_kind kind;
    struct check_words words;
    /* of the kind that is asked for; registers: words.model */
    struct messages_model message_model;
    struct link_model link_model;
    const struct system *system;
    char text[WORDS_ROOM]; /* the words themselves, which the others point into */
};

/* A move that was made. */
struct past_move {
    struct move move;
    bool stays;
    const char *broken; /* the safety property that it broke, or NULL */
};

struct session {
    struct asked_system asked;
    struct successors *out; /* room for one state's moves */
    unsigned char *scratch; /* and for one state */
    unsigned char *states;  /* from the first on: one more than moves */
    struct past_move *moves;
    struct touch *touches; /* of a register protocol: what each move did */
    size_t count, room;    /* moves made, and how many there is room for */
};

/* asked.c */
const char *asked_kind_word(enum asked_kind kind);
/* Reads the words of `afteryou check`, without its name. False after a complaint on stderr. */
bool asked_read(struct asked_system *asked, const char *words);
unsigned asked_promises(const struct asked_system *asked);
/* Whether it counts if this process waits for ever. */
bool asked_may_suffer(const struct asked_system *asked, unsigned process);
/* Whether progress may need somebody who comes anew: conditions may depend on it. */
bool asked_needs_newcomers(const struct asked_system *asked);
/* "n = 3, deaths after any step". */
void asked_describe(const struct asked_system *asked, char *text, size_t room);
/* What people call a process: "P", "node ", "end ", and its place. */
const char *asked_who(const struct asked_system *asked);
unsigned asked_place(const struct asked_system *asked, unsigned process);

/* session.c */
/* False after a complaint: the session is closed then. */
bool session_open(struct session *session, const char *words);
void session_close(struct session *session);
/* The run after its first `index` moves. */
static inline unsigned char *session_state(const struct session *session, size_t index)
{
    return session->states + index * session->asked.system->size;
}
/* Fills session->out with the moves from there. */
void session_look(struct session *session, size_t index);
enum made { MADE, MADE_NOT_POSSIBLE, MADE_OVERFLOW, MADE_NO_MEMORY };
/* Cuts the run off after `index` moves, and makes one more. */
enum made session_make(struct session *session, size_t index, struct move move);

/* register_view.c, message_view.c, link_view.c: a state and a move of each kind of protocol. */
void register_view_process(struct json *json, const struct session *session, size_t index,
                           unsigned process);
void register_view_access(struct json *json, const struct session *session, size_t index);
void message_view_process(struct json *json, const struct session *session, size_t index,
                          unsigned process);
void message_view_flying(struct json *json, const struct session *session, size_t index);
void link_view_end(struct json *json, const struct session *session, size_t index, unsigned end);
void link_view_flying(struct json *json, const struct session *session, size_t index);

/* session_view.c: a line each. */
void view_opened(const struct session *session);
void view_state(struct session *session, size_t index);
void view_made(const struct session *session);
/* A move as the page writes it: who (A…H), what (s, b, g, d, y, f), which outcome. */
void view_move(struct json *json, const char *name, struct move move);
bool move_read(const char **text, struct move *move);

/* showing.c: whether the first `index` moves show that a property is broken; `why` says how. */
bool session_shows(struct session *session, size_t index, enum property property, char *why,
                   size_t room);

/* A copy of the state with its numbers made small, if the protocol's numbers grow. */
void session_reduce(const struct session *session, const unsigned char *state, unsigned char *copy);

/* standing.c. Somebody waits, and by no steps of those who are there can anybody enter any more. */
bool standing_stuck(const struct session *session, size_t index, char *why, size_t room);
/* Somebody waits, all others are outside or inside, with these it may be inside together, and as
 * long as they stay it cannot enter. */
bool standing_refused(const struct session *session, const unsigned char *state, char *why,
                      size_t room);

/* hinting.c: the shortest way from there to where the property is seen to be broken, as a run that
 * its caller closes. Of exclusion, and of what must be reached. */
enum hint { HINT_FOUND, HINT_NONE, HINT_TOO_FAR };
enum hint session_hint(struct session *session, size_t index, enum property property,
                       struct check_run *run);

/* catalogue_view.c, verdict_view.c: a line each. */
void view_catalogue(void);
/* The complete search, and its verdict. `progress` is called now and then. False after a complaint.
 */
bool view_verdict(const char *words, size_t memory, void (*progress)(const struct search *search));

#endif
