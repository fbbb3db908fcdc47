/* SPDX-License-Identifier: MIT */
/* `afteryou status --serve`: three things can be asked for, and nothing can be changed.
 *   /             the page
 *   /events       what `status --json` prints, again whenever something has changed
 *   /status.json  the same, once
 * What makes no sense gets a line that says so. */
#include <stdlib.h>
#include <string.h>

#include "cli/status/serve.h"

enum {
    PATIENCE_S = 20,      /* for a request, and between two of a connection */
    REQUEST_ROOM = 16384, /* for the headers */
    BODY_MOST = 64 << 20  /* so much is read, to be answered; more ends the connection */
};

/* One request, from its first line to its answer. */
struct http_request {
    uint64_t body; /* bytes, which nobody wants */
    bool reads;    /* counted in server->readers: set when its answer is made */
};

struct header_line {
    const char *name, *value;
};

/* Nothing is kept, framed, guessed or told to other pages. */
static const struct header_line common_headers[] = {
    {MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
};

static struct MHD_Response *with_headers(struct MHD_Response *response, const char *type,
                                         const char *policy)
{
    if (!response)
        return NULL;
    bool done = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES &&
                MHD_add_response_header(response, "Content-Security-Policy", policy) == MHD_YES;
    for (size_t at = 0; at < sizeof common_headers / sizeof *common_headers; at++)
        done &= MHD_add_response_header(response, common_headers[at].name,
                                        common_headers[at].value) == MHD_YES;
    if (done)
        return response;
    MHD_destroy_response(response);
    return NULL;
}

#define POLICY_OF_DATA "default-src 'none'; frame-ancestors 'none'"

/* Queues it, and gives it away. */
static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status,
                              struct MHD_Response *response)
{
    if (!response)
        return MHD_NO;
    const enum MHD_Result queued = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return queued;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *why)
{
    struct MHD_Response *response =
        with_headers(MHD_create_response_from_buffer(strlen(why), (void *)(uintptr_t)why,
                                                     MHD_RESPMEM_PERSISTENT),
                     "text/plain; charset=utf-8", POLICY_OF_DATA);
    if (response && status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    if (response && status == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "5");
    return answer(connection, status, response);
}

static enum MHD_Result answer_stream(struct server *server, struct MHD_Connection *connection)
{
    const char *changes = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "changes");
    struct MHD_Response *response =
        with_headers(stream_open(server, connection, changes && strcmp(changes, "1") == 0),
                     "text/event-stream; charset=utf-8", POLICY_OF_DATA);
    if (!response)
        return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                      "As many pages as can be are open already: close one.\n");
    visitor_begins(connection, VISIT_STAYS);
    return answer(connection, MHD_HTTP_OK, response);
}

static enum MHD_Result answer_once(struct server *server, struct MHD_Connection *connection,
                                   struct http_request *request)
{
    if (server->readers == SERVE_STREAMS) /* what they do not read stays in memory */
        return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                      "As many as can be are reading already: ask again.\n");
    struct status_view view;
    char trouble[512], *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return MHD_NO;
    unsigned status = MHD_HTTP_OK;
    if (status_look(server->newsroom.asked, &view, trouble, sizeof trouble) == 0) {
        status_look_for_removed(&view);
        status_print_json(out, &view);
        status_drop(&view);
    } else {
        struct json json = json_begin(out);
        json_object(&json, NULL);
        json_text(&json, "error", trouble);
        json_close(&json);
        json_end(&json);
        status = MHD_HTTP_SERVICE_UNAVAILABLE;
    }
    if (fclose(out) != 0) {
        free(text);
        return MHD_NO;
    }
    request->reads = true;
    server->readers++;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(length, text, MHD_RESPMEM_MUST_FREE);
    if (!response)
        free(text);
    return answer(connection, status, with_headers(response, "application/json", POLICY_OF_DATA));
}

static enum MHD_Result answer_request(struct server *server, struct MHD_Connection *connection,
                                      const char *url, const char *method,
                                      struct http_request *request)
{
    const char *host =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    const char *token = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
    if (!serve_host_is_good(&server->address, host))
        return refuse(connection, MHD_HTTP_FORBIDDEN,
                      "This page is this machine's alone: ask for it as localhost or 127.0.0.1.\n");
    if (!serve_token_is_good(&server->address, token))
        return refuse(connection, MHD_HTTP_FORBIDDEN,
                      "The token is missing or wrong: use the whole address that "
                      "'afteryou status --serve' printed, with ?token=… at its end.\n");
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
                      "This page can be read, and nothing else: only GET is answered.\n");
    if (request->body)
        return refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE,
                      "A request has no body here: leave it out.\n");
    if (strcmp(url, "/") == 0)
        return MHD_queue_response(connection, MHD_HTTP_OK, server->page);
    if (strcmp(url, "/events") == 0)
        return strcmp(method, MHD_HTTP_METHOD_HEAD) == 0
                   ? refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "A stream wants GET.\n")
                   : answer_stream(server, connection);
    if (strcmp(url, "/status.json") == 0)
        return answer_once(server, connection, request);
    return refuse(connection, MHD_HTTP_NOT_FOUND,
                  "There is nothing here. There are /, /events and /status.json.\n");
}

enum MHD_Result answers_handle(void *cls, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **kept)
{
    struct http_request *request = *kept;
    (void)version;
    (void)upload;
    if (!request) {
        *kept = calloc(1, sizeof *request);
        return *kept ? MHD_YES : MHD_NO;
    }
    if (*upload_size > 0) {
        /* One who is still sending would not hear the answer: it comes when all is read. */
        request->body += *upload_size;
        *upload_size = 0;
        return request->body <= BODY_MOST ? MHD_YES : MHD_NO;
    }
    visitor_begins(connection, VISIT_READS);
    return answer_request(cls, connection, url, method, request);
}

void answers_end(void *cls, struct MHD_Connection *connection, void **kept,
                 enum MHD_RequestTerminationCode code)
{
    struct server *server = cls;
    struct http_request *request = *kept;
    (void)code;
    if (request && request->reads)
        server->readers--;
    visitor_begins(connection, VISIT_ASKS);
    free(request);
    *kept = NULL;
}

bool answers_open(struct server *server, unsigned connections)
{
    server->page =
        with_headers(MHD_create_response_from_buffer(live_page_length, (void *)(uintptr_t)live_page,
                                                     MHD_RESPMEM_PERSISTENT),
                     "text/html; charset=utf-8", live_page_policy);
    server->daemon =
        server->page ? MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
                                        answers_handle, server, MHD_OPTION_LISTEN_SOCKET,
                                        server->address.fd, MHD_OPTION_NOTIFY_COMPLETED,
                                        answers_end, server, MHD_OPTION_NOTIFY_CONNECTION,
                                        visitors_notice, server, MHD_OPTION_CONNECTION_LIMIT,
                                        connections, MHD_OPTION_CONNECTION_TIMEOUT,
                                        (unsigned)PATIENCE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                        (size_t)REQUEST_ROOM, MHD_OPTION_END)
                     : NULL;
    if (server->daemon)
        return true;
    if (server->page)
        MHD_destroy_response(server->page);
    return false;
}
