/* SPDX-License-Identifier: MIT */
/* `pair` under the checker. */
#include <stdio.h>

#include "check/registers/models/models.h"
#include "protocols/registers/pair.h"

MODEL_PASSAGE(enter, pair, pair_enter(my, at))
MODEL_PASSAGE(leave, pair, pair_leave(my, at))

static void write_value(unsigned index, word value, char *text, size_t room)
{
    (void)index;
    if (value == PAIR_D)
        snprintf(text, room, "D");
    else
        snprintf(text, room, "%u", value - PAIR_FIRST);
}

const struct register_protocol model_pair = {
    .name = "pair",
    .summary = "Rivest & Pratt 1977: two processes",
    .places_least = 2,
    .places_most = 2,
    .passage_size = sizeof(struct pair_passage),
    .enter = enter,
    .leave = leave,
    .write_value = write_value,
    .default_places = 2,
    .promises = PROMISES_FAIR | 1u << PROPERTY_OVERTAKING,
};
