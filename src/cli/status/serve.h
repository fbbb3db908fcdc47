/* SPDX-License-Identifier: MIT */
/* `afteryou status --serve`: what its parts share. One thread does everything, in one loop
 * (serve.c): it waits for the sockets, for signals, and, while somebody looks, for the time of the
 * next look. */
#ifndef AFTERYOU_CLI_STATUS_SERVE_H
#define AFTERYOU_CLI_STATUS_SERVE_H

#include <microhttpd.h>
#include <stdint.h>

#include "cli/status/serve_address.h"
#include "cli/status/status.h"

enum { SERVE_STREAMS = 64 /* pages that are open at once */ };

/* serve_news.c: what was seen last, as an event of the stream. */
struct bulletin {
    unsigned holders; /* the one that made it, and each stream that is sending it */
    uint64_t number;  /* from 1 */
    size_t length;
    char *text;
};

struct newsroom {
    const struct status_words *asked;
    struct status_view seen; /* what was seen last, if .is_seen */
    bool is_seen;            /* false: the last look failed, and `trouble` says why */
    char trouble[512];
    uint64_t number; /* of what was seen last: one more whenever it has changed; 0: nobody looked */
    struct bulletin *whole;  /* all of it; NULL: nobody has asked for it since it changed */
    struct bulletin *change; /* what it was that changed last; NULL: it can only be told whole */
    int64_t next_ns;         /* when the next look is due: never sooner after a look than it cost */
    int64_t removed_ns;      /* when the next search for removed spaces is */
};

/* Looks. */
void newsroom_look(struct newsroom *room);
/* What one who has heard the news of that number (0: none) is to hear next; `changes`: it can do
 * with what has changed. NULL: nothing, or there is no memory. */
struct bulletin *newsroom_news(struct newsroom *room, uint64_t heard, bool changes);
void newsroom_close(struct newsroom *room);
struct bulletin *bulletin_hold(struct bulletin *news);
void bulletin_release(struct bulletin *news);

/* serve_streams.c: the pages that are open. A stream is SENDING while the library asks it for more,
 * and RESTS, suspended, when it has nothing more to say. */
enum stream_state { STREAM_FREE, STREAM_SENDS, STREAM_RESTS };

struct stream {
    enum stream_state state;
    bool ends;    /* set when its reader has gone, or all ends; never cleared */
    bool changes; /* its reader asked for changes, where they can be told */
    bool beats;   /* set when it has been silent for long, cleared when it said so */
    struct server *server;
    struct MHD_Connection *connection;
    int fd;
    struct bulletin *sends; /* NULL: nothing */
    size_t sent;            /* bytes of it */
    uint64_t number;        /* of the news it has taken last; 0: none */
};

/* serve_visitors.c: who is connected. */
enum visit { VISIT_ASKS, VISIT_READS, VISIT_STAYS };
struct visitor {
    struct visitor *before, *after;
    int fd;
    enum visit visit;
    int64_t due_ns; /* by then it must be done; INT64_MAX: never, or it was told to go */
};

struct server {
    struct serve_address address;
    struct newsroom newsroom;
    struct MHD_Daemon *daemon;
    struct MHD_Response *page;
    struct stream stream[SERVE_STREAMS];
    struct visitor *visitors;
    unsigned readers; /* answers made for one request that are still being read */
};

/* For the library: one has come, or gone. */
void visitors_notice(void *server, struct MHD_Connection *connection, void **visitor,
                     enum MHD_ConnectionNotificationCode code);
/* It begins to ask, to read what was answered, or a stream. */
void visitor_begins(struct MHD_Connection *connection, enum visit visit);
/* When the next one must be done; INT64_MAX: nobody must. */
int64_t visitors_due(const struct server *server);
/* Those who are not done in time go. */
void visitors_dismiss(const struct server *server);

/* A response that is a stream of events; NULL: there are too many already, or no memory. */
struct MHD_Response *stream_open(struct server *server, struct MHD_Connection *connection,
                                 bool changes);
/* Whether any stream waits for news. */
bool streams_rest(const struct server *server);
/* Those that rest go on if there are news for them; with `beat`, all of them; with `end`, for the
 * last time. */
void streams_wake(struct server *server, bool beat, bool end);

/* serve_answers.c: what is asked by HTTP, and what is answered. */
bool answers_open(struct server *server, unsigned connections);
enum MHD_Result answers_handle(void *server, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **request);
void answers_end(void *server, struct MHD_Connection *connection, void **request,
                 enum MHD_RequestTerminationCode code);

/* Made of web/ when it is built (web/live.py). */
extern const unsigned char live_page[];
extern const size_t live_page_length;
extern const char live_page_policy[]; /* its Content-Security-Policy */

#endif
