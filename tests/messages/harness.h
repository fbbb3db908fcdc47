/* SPDX-License-Identifier: MIT */
/* A few nodes and the messages between them, stepped by hand; everything that happens is written
 * down in words. */
#ifndef AFTERYOU_TESTS_MESSAGES_HARNESS_H
#define AFTERYOU_TESTS_MESSAGES_HARNESS_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocols/messages/catalogue.h"

enum { HARNESS_NODES = 5, HARNESS_WORDS = 256, HARNESS_LETTERS = 64 };

struct letter {
    uint32_t to;
    struct message message;
    uint64_t body[64];
};

struct harness {
    const struct message_protocol *protocol;
    uint32_t nodes;
    bool agreed;
    uint64_t state[HARNESS_NODES][HARNESS_WORDS];
    struct letter letters[HARNESS_LETTERS];
    unsigned count;
    char trace[4096];
};

static inline void harness_say(struct harness *h, const char *format, ...)
{
    const size_t used = strlen(h->trace);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(h->trace + used, sizeof h->trace - used, format, arguments);
    va_end(arguments);
}

static inline void harness_post(struct harness *h, uint32_t to, const struct effect *effect)
{
    assert_true(h->count < HARNESS_LETTERS);
    struct letter *letter = &h->letters[h->count++];
    *letter = (struct letter){.to = to, .message = effect->message};
    if (effect->body)
        memcpy(letter->body, effect->body, effect->body_words * sizeof *effect->body);
}

static inline void harness_step(struct harness *h, uint32_t node, struct event event)
{
    uint64_t room[128];
    struct effects effects = {.room = room};
    assert_true(h->protocol->room(h->nodes) <= 128);
    h->protocol->step(h->state[node], &event, &effects);
    assert_true(effects.used <= h->protocol->room(h->nodes));
    for (unsigned i = 0; i < effects.count; i++) {
        const struct effect *effect = &effects.effect[i];
        if (effect->kind == EFFECT_ENTERED) {
            harness_say(h, "%u enters, fence %" PRIu64 "\n", node, effect->fence & 0xffffffffff);
            continue;
        }
        if (effect->kind == EFFECT_LOST) {
            harness_say(h, "%u has lost it\n", node);
            continue;
        }
        harness_say(h, "%u sends %s", node, message_name(effect->message.kind));
        if (effect->message.number)
            harness_say(h, "(%" PRIu64 ")", effect->message.number);
        for (uint32_t to = 0; to < h->nodes; to++)
            if (effect_reaches(effect, node, to)) {
                harness_say(h, " to %u", to);
                harness_post(h, to, effect);
            }
        harness_say(h, "\n");
    }
}

static inline void harness_begin(struct harness *h, const struct message_protocol *protocol,
                                 uint32_t nodes, bool agreed)
{
    memset(h, 0, sizeof *h);
    h->protocol = protocol;
    h->nodes = nodes;
    h->agreed = agreed;
    assert_true(protocol->words(nodes) <= HARNESS_WORDS);
    for (uint32_t node = 0; node < nodes; node++)
        protocol->begin(h->state[node],
                        &(struct beginning){.self = node, .nodes = nodes, .agreed = agreed});
}

static inline void harness_request(struct harness *h, uint32_t node, enum mode mode)
{
    harness_say(h, "%u requests\n", node);
    harness_step(h, node, (struct event){.kind = EVENT_REQUEST, .mode = (uint8_t)mode});
}

static inline void harness_release(struct harness *h, uint32_t node)
{
    harness_say(h, "%u leaves\n", node);
    harness_step(h, node, (struct event){.kind = EVENT_RELEASE});
}

/* The next letter that matches arrives; UINT32_MAX matches any. */
static inline void harness_deliver(struct harness *h, uint32_t from, uint32_t to)
{
    for (unsigned i = 0; i < h->count; i++) {
        const struct letter letter = h->letters[i];
        if ((from != UINT32_MAX && letter.message.from != from) ||
            (to != UINT32_MAX && letter.to != to))
            continue;
        h->count--;
        memmove(&h->letters[i], &h->letters[i + 1], (h->count - i) * sizeof letter);
        harness_step(
            h, letter.to,
            (struct event){.kind = EVENT_MESSAGE, .message = &letter.message, .body = letter.body});
        return;
    }
    fail_msg("no letter from %u to %u is on its way; so far:\n%s", from, to, h->trace);
}

/* Everything arrives, in the order sent. */
static inline void harness_settle(struct harness *h)
{
    while (h->count)
        harness_deliver(h, UINT32_MAX, UINT32_MAX);
}

static inline void harness_forget(struct harness *h)
{
    h->trace[0] = '\0';
}

#endif
