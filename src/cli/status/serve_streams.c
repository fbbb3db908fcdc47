/* SPDX-License-Identifier: MIT */
/* `afteryou status --serve`: streams of events (text/event-stream). Each takes the latest news when
 * it has sent what it took before: one that reads slowly misses what came in between, and nothing
 * piles up. */
#include <stdlib.h>
#include <string.h>

#include "cli/status/serve.h"

enum { BLOCK = 16384 };
/* A line that a reader passes over: it only shows whether somebody is there. */
static const char beat_text[] = ":\n\n";

static ssize_t rest(struct stream *stream)
{
    stream->state = STREAM_RESTS;
    MHD_suspend_connection(stream->connection);
    return 0;
}

/* The library asks for more, whenever the connection takes it. */
static ssize_t read_stream(void *cls, uint64_t position, char *buffer, size_t most)
{
    struct stream *stream = cls;
    (void)position;
    if (stream->ends)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (!stream->sends)
        stream->sends = bulletin_hold(
            newsroom_news(&stream->server->newsroom, stream->number, stream->changes));
    if (stream->sends && stream->sends->number > stream->number) {
        stream->number = stream->sends->number;
        stream->sent = 0;
        stream->beats = false;
    }
    if (stream->sends) {
        const size_t left = stream->sends->length - stream->sent,
                     length = left < most ? left : most;
        memcpy(buffer, stream->sends->text + stream->sent, length);
        stream->sent += length;
        if (length == left) {
            bulletin_release(stream->sends);
            stream->sends = NULL;
        }
        return (ssize_t)length;
    }
    if (stream->beats && most >= strlen(beat_text)) {
        stream->beats = false;
        memcpy(buffer, beat_text, strlen(beat_text));
        return (ssize_t)strlen(beat_text);
    }
    return rest(stream);
}

static void close_stream(void *cls)
{
    struct stream *stream = cls;
    bulletin_release(stream->sends);
    *stream = (struct stream){0};
}

struct MHD_Response *stream_open(struct server *server, struct MHD_Connection *connection,
                                 bool changes)
{
    struct stream *stream = server->stream;
    while (stream < server->stream + SERVE_STREAMS && stream->state != STREAM_FREE)
        stream++;
    if (stream == server->stream + SERVE_STREAMS)
        return NULL;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct MHD_Response *response =
        info ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, stream,
                                                 close_stream)
             : NULL;
    if (response)
        *stream = (struct stream){.state = STREAM_SENDS,
                                  .changes = changes,
                                  .server = server,
                                  .connection = connection,
                                  .fd = info->connect_fd};
    return response;
}

bool streams_rest(const struct server *server)
{
    for (const struct stream *stream = server->stream; stream < server->stream + SERVE_STREAMS;
         stream++)
        if (stream->state == STREAM_RESTS)
            return true;
    return false;
}

void streams_wake(struct server *server, bool beat, bool end)
{
    for (struct stream *stream = server->stream; stream < server->stream + SERVE_STREAMS;
         stream++) {
        if (stream->state == STREAM_FREE)
            continue;
        stream->beats |= beat;
        stream->ends |= end;
        if (stream->state == STREAM_RESTS &&
            (stream->ends || stream->beats || server->newsroom.number > stream->number)) {
            stream->state = STREAM_SENDS;
            MHD_resume_connection(stream->connection);
        }
    }
}
