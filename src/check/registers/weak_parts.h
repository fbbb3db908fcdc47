/* SPDX-License-Identifier: MIT */
/* Where the messages and the views of weak.h stand in a state. Included by weak*.c alone. */
#ifndef AFTERYOU_CHECK_REGISTERS_WEAK_PARTS_H
#define AFTERYOU_CHECK_REGISTERS_WEAK_PARTS_H

#include "check/registers/weak.h"

/* A view: which passages it knows, and from which message on each register may be read. */
struct view {
    uint16_t known;
    uint8_t from[];
};

/* A list of a register's messages, the oldest first. */
struct history {
    uint8_t count;
    uint8_t unused;
    unsigned char messages[];
};

struct stored {
    word value;
    unsigned char view[];
};

/* In front of a place's views. */
struct weak_thread {
    uint8_t fencing; /* has stored, and makes its fence next; set by the store, cleared there */
    uint8_t unused;
};

/* A thread's views, in this order; the latter two only where the model keeps them. */
enum { VIEW_SEEN, VIEW_RELEASED, VIEW_PENDING, VIEWS };

static inline size_t message_size(const struct register_model *model)
{
    return sizeof(word) + model->view_size;
}

static inline size_t history_size(const struct register_model *model)
{
    return sizeof(struct history) + model->history_most * message_size(model);
}

static inline unsigned views_kept(const struct register_model *model)
{
    return model->apart ? VIEWS : 1;
}

static inline struct weak_thread *thread_of(const struct register_model *model,
                                            const unsigned char *state, unsigned process)
{
    return (struct weak_thread *)(uintptr_t)(state + process * model->stride + model->weak_at);
}

static inline struct view *view_of(const struct register_model *model, const unsigned char *state,
                                   unsigned process, unsigned which)
{
    unsigned char *views = (unsigned char *)(thread_of(model, state, process) + 1);
    return (struct view *)(void *)(views + which * model->view_size);
}

/* Everybody's. */
static inline struct view *global_view(const struct register_model *model,
                                       const unsigned char *state)
{
    return view_of(model, state, 0, views_kept(model));
}

static inline struct history *history_of(const struct register_model *model,
                                         const unsigned char *state, unsigned process,
                                         unsigned index)
{
    return (struct history *)(uintptr_t)(state + process * model->stride + model->histories_at +
                                         index * history_size(model));
}

static inline struct stored *message_of(const struct register_model *model, struct history *history,
                                        unsigned which)
{
    return (struct stored *)(void *)(history->messages + which * message_size(model));
}

static inline struct view *view_in(struct stored *message)
{
    return (struct view *)(void *)message->view;
}

static inline unsigned register_number(const struct register_model *model, unsigned process,
                                       unsigned index)
{
    return process * model->words + index;
}

static inline uint16_t known_all(const struct register_model *model)
{
    return (uint16_t)((1u << 2 * model->system.processes) - 1);
}

#endif
