/* SPDX-License-Identifier: MIT */
/* The playground's commands as a WebAssembly module exports them. */
#include <stdio.h>

#include "check/search/search.h"
#include "playground/calls.h"

#define EXPORT(name) __attribute__((export_name(#name), used))

/* The page writes its text here before it calls. */
static char room[1 << 14];

EXPORT(room) char *export_room(void);
EXPORT(room_size) size_t export_room_size(void);
EXPORT(catalogue) bool export_catalogue(void);
EXPORT(options) bool export_options(void);
EXPORT(takes) bool export_takes(void);
EXPORT(open) bool export_open(void);
EXPORT(state) bool export_state(size_t index);
EXPORT(make) bool export_make(size_t index);
EXPORT(shows) bool export_shows(size_t index);
EXPORT(hint) bool export_hint(size_t index);
EXPORT(check) bool export_check(size_t memory);

__attribute__((import_module("page"), import_name("progress"))) void
page_progress(double states, double expanded, double depth, double moves, double bytes);

static bool flushed(bool done)
{
    return fflush(stdout) == 0 && done;
}

char *export_room(void)
{
    return room;
}

size_t export_room_size(void)
{
    return sizeof room;
}

bool export_catalogue(void)
{
    return flushed(playground_catalogue());
}

bool export_options(void)
{
    return flushed(playground_options());
}

bool export_takes(void)
{
    return playground_takes(room);
}

bool export_open(void)
{
    return flushed(playground_open(room));
}

bool export_state(size_t index)
{
    return flushed(playground_state(index));
}

bool export_make(size_t index)
{
    return flushed(playground_make(index, room));
}

bool export_shows(size_t index)
{
    return flushed(playground_shows(index, room));
}

bool export_hint(size_t index)
{
    return flushed(playground_hint(index, room));
}

static void show_progress(const struct search *search)
{
    page_progress(search->store.count, search->expanded, search->depth, (double)search->moves,
                  (double)search->store.spent);
}

bool export_check(size_t memory)
{
    return flushed(playground_check(room, memory, show_progress));
}
