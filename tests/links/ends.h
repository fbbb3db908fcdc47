/* SPDX-License-Identifier: MIT */
/* Ends of links in one process, over real TCP: what each is told is written down, and all are
 * driven by one loop as the agent drives its own. */
#ifndef AFTERYOU_TESTS_LINKS_ENDS_H
#define AFTERYOU_TESTS_LINKS_ENDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/host/links.h"

enum { ENDS_MOST = 4, LIMIT_S = 30, TRACE_ROOM = 4096, SHORT_SILENCE_MS = 300 };

struct end {
    const char *name;
    struct links *links;
    uint32_t slot;
    uint64_t incarnation;
    bool stopped; /* the loop leaves it alone */
    bool echoes;  /* sends back what it receives */
    unsigned dispatches;
    unsigned ups, downs, lines;
    uint64_t packets, octets;
    uint8_t *last; /* packet */
    size_t last_length;
    char trace[TRACE_ROOM]; /* "up 2 / down 2 / …" */
    char line[512];         /* of the log, the last one but for link-up */
    /* Called within received(), if it is set. */
    void (*on_packet)(struct end *end, uint32_t slot, uint64_t incarnation);
};

/* Paths of files in a directory of this test's own. */
extern char key_path[], other_key_path[];

int make_keys(void **state);
int remove_keys(void **state);

/* Of the cluster "c", with the key, at any free port of the loopback. */
void end_open(struct end *end, const char *name, uint32_t slot, uint64_t incarnation);
void end_open_as(struct end *end, const char *name, uint32_t slot, uint64_t incarnation,
                 const struct links_options *options);
void end_close(struct end *end);
uint16_t end_port(const struct end *end);
/* `one` dials, and both know each other. */
void introduce(struct end *one, struct end *other);
/* `end` knows `peer`, and dials if so told. */
void know(struct end *end, const struct end *peer, bool dial);
void know_at(struct end *end, const struct end *peer, uint16_t port, bool dial);
bool send_text(struct end *from, const struct end *to, const char *text);
/* All ends once, after at most so long. `also`: called in each round, if it is set. */
void step(int patience_ms);
extern void (*also)(void);

/* Fails after LIMIT_S. */
void run_out(const char *what, int64_t began);
int64_t began_now(void);
#define UNTIL(condition)                                                                           \
    for (const int64_t began_ = began_now(); !(condition); step(10))                               \
    run_out(#condition, began_)
/* For this while, whatever happens. */
void run_for(int milliseconds);

/* A socket connected to a port of 127.0.0.1, from a local address such as 127.0.0.2. */
int connect_from(const char *address, uint16_t port);

#endif
