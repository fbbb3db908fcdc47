/* SPDX-License-Identifier: MIT */
/* The looks at words alone, by which an engine leaves out a look at states: NONE_ABOVE, NONE_WITH,
 * NONE_TO_WAKE. All rivals are read in one access; an engine reads one after the other. So of two
 * places all there is is searched, and of more only some. */
#include "check/registers/accesses.h"
#include "check/registers/register_model.h"

bool registers_brief(const struct registers *at)
{
    return at->model->protocol->brief;
}

bool registers_none_above(struct registers *at, word limit)
{
    for (unsigned place = registers_next_rival(at, 0); place < at->places;
         place = registers_next_rival(at, place + 1))
        if (registers_read(at, place, 0) > limit)
            return false;
    return true;
}

bool registers_none_with(struct registers *at, word mask)
{
    for (unsigned place = registers_next_rival(at, 0); place < at->places;
         place = registers_next_rival(at, place + 1))
        if (registers_read(at, place, 0) & mask)
            return false;
    return true;
}

bool registers_none_to_wake(struct registers *at, word mask, word asleep)
{
    for (unsigned place = registers_next_rival(at, 0); place < at->places;
         place = registers_next_rival(at, place + 1)) {
        const struct passage_head *other =
            model_passage(at->model, at->state, at->process_of[place]);
        const word value = registers_read(at, place, 0);
        if (at->model->protocol->active(value) &&
            ((value & mask) != asleep || other->watched >> at->self & 1))
            return false;
    }
    return true;
}
