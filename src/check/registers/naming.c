/* SPDX-License-Identifier: MIT */
/* Places that change their names, under the checker: what the words of naming.h do there. Stores to
 * lives, names and tags, and all steps of the counts, are fenced in the engine. */
#include "check/registers/naming_state.h"

#include <string.h>

static struct naming_state *mine(const struct registers *at)
{
    return naming_of(at->model, at->state, at->process);
}

static struct naming_state *its(const struct registers *at, unsigned place)
{
    return naming_of(at->model, at->state, at->process_of[place]);
}

static void note(struct registers *at, unsigned place, unsigned value)
{
    registers_note(at, ACCESS_NAMING, place, 0, (word)value);
}

static word number_at(const struct registers *at, unsigned place)
{
    return at->model->protocol->fence(registers_of_process(at, at->process_of[place])[0]);
}

/* Those of the other name too, if the two are alike. */
static unsigned count_of(const struct registers *at, unsigned name)
{
    return at->model->alike ? 0 : name;
}

static word *floor_of(const struct registers *at, unsigned name)
{
    return &naming_of(at->model, at->state, count_of(at, name))->left;
}

static void raise(word *floor, word number)
{
    if (number > *floor)
        *floor = number;
}

/* A life that never was there before. */
static void change_life(struct registers *at, enum naming_life life)
{
    mine(at)->life = life & 3u;
    for (unsigned process = 0; process < at->model->system.processes; process++) {
        struct naming_known *known = &naming_of(at->model, at->state, process)->of[at->self];
        known->life = known->seen = 0;
        if (life == NAMING_ALIVE)
            known->generation = known->seen_generation = 0;
    }
}

static void naming_see(struct registers *at, unsigned j, struct naming_sight *sight)
{
    struct naming_known *known = &mine(at)->of[j];
    known->seen = known->seen_generation = 1;
    sight->alive = its(at, j)->life == NAMING_ALIVE;
    note(at, j, its(at, j)->life);
}

static bool naming_is_nobody(const struct naming_sight *sight)
{
    (void)sight;
    return false; /* all places are used from the beginning */
}

static bool naming_is_new(const struct registers *at, unsigned j, const struct naming_sight *sight)
{
    (void)sight;
    return !mine(at)->of[j].met || !mine(at)->of[j].generation;
}

/* One that is no rival any more is left out next time. */
static void naming_acquaint(struct registers *at, unsigned j, struct naming_sight *sight)
{
    (void)sight;
    struct naming_known *known = &mine(at)->of[j];
    const bool was = known->rival;
    known->rival = its(at, j)->name == mine(at)->name;
    if (was && !known->rival)
        mine(at)->gathered = 0;
    note(at, j, its(at, j)->name);
}

static void naming_number(struct registers *at, unsigned j, struct naming_sight *sight)
{
    (void)sight;
    raise(&mine(at)->floor, number_at(at, j));
    note(at, j, number_at(at, j));
}

static bool naming_see_again(struct registers *at, unsigned j, struct naming_sight *sight)
{
    (void)sight;
    note(at, j, its(at, j)->life);
    return mine(at)->of[j].seen;
}

static void naming_meets(struct registers *at, unsigned j, struct naming_sight *sight)
{
    struct naming_known *known = &mine(at)->of[j];
    known->met = 1;
    known->life = known->seen;
    known->generation = known->seen_generation;
    known->alive = sight->alive;
    known->seen = known->seen_generation = 0;
    if (!sight->alive)
        mine(at)->gathered = 0;
    sight->alive = 0;
}

static bool naming_knows(const struct registers *at, unsigned j)
{
    return mine(at)->of[j].met;
}

static bool naming_stands(struct registers *at, unsigned j)
{
    note(at, j, its(at, j)->life);
    return mine(at)->of[j].met && mine(at)->of[j].life;
}

static word naming_word(struct registers *at, unsigned j)
{
    const word value = registers_of_process(at, at->process_of[j])[0];
    registers_note(at, ACCESS_READ, j, 0, value);
    return value;
}

static void naming_note_claims(struct registers *at)
{
    mine(at)->noted = 1;
    note(at, at->self, mine(at)->counted);
}

static bool naming_none_came(const struct registers *at)
{
    return mine(at)->counted;
}

static unsigned next_other(const struct registers *at, unsigned place, unsigned among)
{
    while (place < at->places &&
           (place == at->self || at->process_of[place] == PLACE_UNUSED || !(among >> place & 1)))
        place++;
    return place;
}

static unsigned naming_next_gathered(const struct registers *at, unsigned place)
{
    return next_other(at, place, mine(at)->rivals);
}

static bool naming_stays(const struct registers *at, unsigned j)
{
    return mine(at)->of[j].rival && mine(at)->of[j].alive;
}

static void naming_gather_nobody(struct registers *at)
{
    mine(at)->rivals = 0;
}

static unsigned naming_next(const struct registers *at, unsigned place)
{
    return next_other(at, place, ~0u);
}

static bool naming_tagged(struct registers *at, unsigned j)
{
    note(at, j, its(at, j)->tag);
    return count_of(at, its(at, j)->tag) == count_of(at, mine(at)->tag);
}

static void naming_forget(struct registers *at, unsigned j)
{
    mine(at)->of[j].met = mine(at)->of[j].life = mine(at)->of[j].generation = 0;
}

/* One that is gone stays in the middle of a passage, which may watch it. */
static void naming_gather_one(struct registers *at, unsigned j)
{
    const bool passes = model_process(at->model, at->state, at->process)->part == PART_ENTERING;
    const struct naming_known *known = &mine(at)->of[j];
    if (known->rival && (known->alive || passes))
        mine(at)->rivals = (uint8_t)(mine(at)->rivals | 1u << j);
}

static void naming_floor(struct registers *at)
{
    raise(&mine(at)->floor, *floor_of(at, mine(at)->name));
    note(at, at->self, *floor_of(at, mine(at)->name));
}

static void naming_has_gathered(struct registers *at)
{
    mine(at)->gathered = mine(at)->counted = mine(at)->noted;
    mine(at)->noted = 0;
}

static void naming_give_up(struct registers *at)
{
    registers_drain_all(at);
    change_life(at, NAMING_CLAIMED);
    note(at, at->self, NAMING_CLAIMED);
}

static void naming_leave_number(struct registers *at)
{
    raise(floor_of(at, mine(at)->name), number_at(at, at->self));
    note(at, at->self, number_at(at, at->self));
}

static unsigned target(const struct registers *at)
{
    return model_process(at->model, at->state, at->process)->target & 1u;
}

static void naming_store_name(struct registers *at)
{
    mine(at)->name = target(at) & 1u;
    note(at, at->self, target(at));
}

static void naming_store_tag(struct registers *at)
{
    mine(at)->tag = target(at) & 1u;
    note(at, at->self, target(at));
}

static void naming_come_alive(struct registers *at)
{
    change_life(at, NAMING_ALIVE);
    note(at, at->self, NAMING_ALIVE);
}

static bool naming_is_admitted(const struct registers *at)
{
    (void)at;
    return true; /* all have one slot */
}

static void naming_count(struct registers *at)
{
    for (unsigned process = 0; process < at->model->system.processes; process++) {
        struct naming_state *other = naming_of(at->model, at->state, process);
        if (process != at->process && count_of(at, other->name) == count_of(at, mine(at)->name))
            other->gathered = other->counted = other->noted = 0;
    }
    note(at, at->self, 0);
}

static bool naming_is_gathered(struct registers *at)
{
    note(at, at->self, mine(at)->gathered);
    return mine(at)->gathered;
}

#include "protocols/registers/naming.h"

static struct naming_without without_of(const struct registers *at)
{
    const struct naming_without *without = at->model->protocol->naming;
    return without ? *without : (struct naming_without){0};
}

/* A fetch as it is made in a look at all rivals: registers_next_rival() of the engine, and
 * registers_read(). A look at all places, registers_next(), is the same, and then at the floor. */
static enum passage_result fetch(struct naming_fetch *my, struct registers *at, unsigned place)
{
    struct naming_state *me = mine(at);
    const struct naming_without without = without_of(at);
    PASSAGE_BEGIN
    my->place = (place_number)place;
    if (me->begins) {
        me->begins = 0;
        ACT(gathered, my->holds = naming_is_gathered(at));
        if (!my->holds)
            CALL(naming_gather, &my->gather, at, false, without);
    }
    my->holds = me->rivals >> place & 1;
    if (me->wide && without.below && place == next_other(at, 0, ~0u))
        ACT(floor, naming_floor(at));
    if (my->holds)
        CALL(naming_read, &my->reading, at, place, without);
    if (me->wide && !without.below && next_other(at, place + 1, ~0u) == at->places)
        ACT(floor, naming_floor(at));
    me->wide = 0;
    PASSAGE_END
}

word registers_read_named(struct registers *at, unsigned place)
{
    struct naming_fetch *my = &mine(at)->fetch;
    word value = 0;
    at->unfinished = !((my->head.point == 0 && fetch(my, at, place) == PASSED) ||
                       fetch(my, at, place) == PASSED);
    if (!at->unfinished) {
        value = my->reading.w;
        at->skipped = my->holds ? 0 : (uint8_t)(place + 1);
        memset(my, 0, sizeof *my);
    }
    return value;
}

void registers_look_named(const struct registers *at, bool begins, bool wide)
{
    mine(at)->begins = begins;
    mine(at)->wide = wide;
}

unsigned registers_next_named(const struct registers *at, unsigned place)
{
    return place == 0 ? naming_next(at, 0) : naming_next_gathered(at, place);
}

bool registers_rival_named(const struct registers *at, unsigned place)
{
    return at->skipped != place + 1 && mine(at)->of[place].rival;
}

word registers_floor(const struct registers *at)
{
    return mine(at)->floor;
}

bool naming_may_take(const struct register_model *model, const unsigned char *state,
                     unsigned process, unsigned name)
{
    const struct naming_state *me = naming_of(model, state, process);
    return model_process(model, state, process)->named < model->renames &&
           (me->life != NAMING_ALIVE || me->name != name);
}

static enum passage_result change_name(struct naming_state *my, struct registers *at)
{
    const struct naming_without without = without_of(at);
    if (!my->settling.head.point) {
        if (naming_rename(&my->renaming, at, without) != PASSED)
            return STOPPED;
        my->gathered = my->counted = 0;
    }
    return without.anew ? PASSED : naming_gather(&my->settling, at, true, without);
}

bool naming_step(struct registers *at)
{
    struct naming_state *my = mine(at);
    const bool begins = !my->renaming.head.point && !my->settling.head.point;
    return (begins && change_name(my, at) == PASSED) || change_name(my, at) == PASSED;
}

void naming_abandon(struct registers *at)
{
    struct naming_state *my = mine(at);
    memset(&my->fetch, 0, sizeof my->fetch);
    my->begins = my->wide = my->noted = 0;
}

/* What will be seen anew before it is used need not be told apart; nor a floor that bounds
 * nothing. */
void naming_tidy(const struct register_model *model, unsigned char *state)
{
    word least = UINT16_MAX;
    for (unsigned process = 0; process < model->system.processes; process++) {
        struct naming_state *my = naming_of(model, state, process);
        const word number = model->protocol->fence(model_words(model, state, process)[0]);
        const unsigned part = model_process(model, state, process)->part;
        if (number < least)
            least = number;
        raise(&my->floor, number);
        for (unsigned place = 0; place < model->places; place++)
            my->of[place].alive &= my->of[place].life;
        if (!my->counted && !my->noted && (part == PART_IDLE || part == PART_INSIDE))
            my->rivals = 0;
    }
    for (unsigned name = 0; name < NAMES; name++)
        raise(&naming_of(model, state, name)->left, least);
}

/* What it knew is gone with it. */
void naming_die(struct registers *at)
{
    struct naming_state *my = mine(at);
    *my = (struct naming_state){.name = my->name, .tag = my->tag, .left = my->left};
    change_life(at, NAMING_DEAD);
}
