/* SPDX-License-Identifier: MIT */
/* What the words of naming.h do here: there is one thread, so each step is made whole. */
#include "naming_model.h"

#include <string.h>

#include "protocols/language/registers.h"

enum { NEVER = 0 };

/* A life that never was before, of some generation. */
struct life {
    uint64_t value, generation; /* 0: nobody was ever there */
    bool alive;
};

struct naming_sight {
    struct life life;
};

#include "protocols/registers/naming_parts.h"

struct known {
    struct life life; /* value 0: never met */
    bool rival, alive;
};

struct place {
    struct life life;
    unsigned name, tag;
    word number;
    /* the rest is its owner's alone */
    struct known of[MODEL_PLACES];
    bool rivals[MODEL_PLACES];
    /* what `claims` of its name was: when rivals were gathered, unless that is to be done anew; and
     * when they began to be */
    uint64_t gathered, noted;
    word floor;
};

struct registers {
    unsigned self, target;
};

static struct {
    struct model_name names[MODEL_NAMES];
    struct naming_without without;
    struct place place[MODEL_PLACES];
    /* of each name's bucket: which name stands for it is found by first_alike() */
    uint64_t claims[MODEL_NAMES];
    word floor[MODEL_NAMES];
    uint64_t lives;
} world;

static struct place *mine(const struct registers *at)
{
    return &world.place[at->self];
}

static struct known *known(const struct registers *at, unsigned j)
{
    return &mine(at)->of[j];
}

static unsigned first_alike(unsigned name)
{
    unsigned first = 0;
    while (world.names[first].bucket != world.names[name].bucket)
        first++;
    return first;
}

static void raise(word *floor, word number)
{
    if (number > *floor)
        *floor = number;
}

static void change_life(struct life *life, bool alive)
{
    life->value = ++world.lives;
    life->generation += alive;
    life->alive = alive;
}

static unsigned registers_places(const struct registers *at)
{
    (void)at;
    return MODEL_PLACES;
}

/* ---- meeting ---- */

static void naming_see(const struct registers *at, unsigned j, struct naming_sight *sight)
{
    (void)at;
    sight->life = world.place[j].life;
}

static bool naming_is_nobody(const struct naming_sight *sight)
{
    return sight->life.generation == 0;
}

static bool naming_is_new(const struct registers *at, unsigned j, const struct naming_sight *sight)
{
    return known(at, j)->life.value == 0 || known(at, j)->life.generation != sight->life.generation;
}

static void naming_acquaint(struct registers *at, unsigned j, struct naming_sight *sight)
{
    (void)sight;
    const bool was = known(at, j)->rival;
    known(at, j)->rival = world.place[j].name == mine(at)->name;
    if (was && !known(at, j)->rival)
        mine(at)->gathered = NEVER;
}

static void naming_number(struct registers *at, unsigned j, struct naming_sight *sight)
{
    (void)sight;
    raise(&mine(at)->floor, world.place[j].number);
}

static bool naming_see_again(const struct registers *at, unsigned j,
                             const struct naming_sight *sight)
{
    (void)at;
    return world.place[j].life.value == sight->life.value;
}

static void naming_meets(struct registers *at, unsigned j, const struct naming_sight *sight)
{
    known(at, j)->life = sight->life;
    known(at, j)->alive = sight->life.alive;
    if (!sight->life.alive)
        mine(at)->gathered = NEVER;
}

static bool naming_knows(const struct registers *at, unsigned j)
{
    return known(at, j)->life.value != 0;
}

static bool naming_stands(const struct registers *at, unsigned j)
{
    return naming_knows(at, j) && known(at, j)->life.value == world.place[j].life.value;
}

static word naming_word(const struct registers *at, unsigned j)
{
    (void)at;
    return world.place[j].number;
}

/* ---- gathering ---- */

static void naming_note_claims(struct registers *at)
{
    mine(at)->noted = 1 + world.claims[first_alike(mine(at)->name)];
}

/* The text may then do without a look at the tags. The engine never does. */
static bool naming_none_came(const struct registers *at)
{
    (void)at;
    return false;
}

static unsigned naming_next_gathered(const struct registers *at, unsigned place)
{
    while (place < MODEL_PLACES && !mine(at)->rivals[place])
        place++;
    return place;
}

static bool naming_stays(const struct registers *at, unsigned j)
{
    return known(at, j)->rival && known(at, j)->alive;
}

static void naming_gather_nobody(struct registers *at)
{
    memset(mine(at)->rivals, 0, sizeof mine(at)->rivals);
}

static unsigned naming_next(const struct registers *at, unsigned place)
{
    while (place < MODEL_PLACES && (place == at->self || world.place[place].life.value == 0))
        place++;
    return place;
}

static bool naming_tagged(const struct registers *at, unsigned j)
{
    return world.place[j].tag == mine(at)->tag;
}

static void naming_forget(struct registers *at, unsigned j)
{
    known(at, j)->life = (struct life){0};
}

static void naming_gather_one(struct registers *at, unsigned j)
{
    mine(at)->rivals[j] = naming_stays(at, j);
}

static void naming_floor(struct registers *at)
{
    raise(&mine(at)->floor, world.floor[first_alike(mine(at)->name)]);
}

static void naming_has_gathered(struct registers *at)
{
    mine(at)->gathered = mine(at)->noted;
}

/* ---- changing one's name ---- */

static void naming_give_up(struct registers *at)
{
    change_life(&mine(at)->life, false);
}

static void naming_leave_number(struct registers *at)
{
    if (mine(at)->tag != 0) /* it had a name */
        raise(&world.floor[first_alike(mine(at)->name)], mine(at)->number);
}

static void naming_store_name(struct registers *at)
{
    mine(at)->name = at->target;
}

static void naming_store_tag(struct registers *at)
{
    mine(at)->tag = world.names[at->target].tag;
}

static void naming_come_alive(struct registers *at)
{
    change_life(&mine(at)->life, true);
}

static bool naming_is_admitted(const struct registers *at)
{
    (void)at;
    return true; /* all have one slot */
}

static void naming_count(const struct registers *at)
{
    world.claims[first_alike(mine(at)->name)]++;
}

#include "protocols/registers/naming.h"

/* ---- steps ---- */

void model_begin(const struct model_name *names, enum model_part left_out)
{
    memset(&world, 0, sizeof world);
    memcpy(world.names, names, sizeof world.names);
    world.without = (struct naming_without){.life = left_out == PART_LIFE,
                                            .number = left_out == PART_NUMBER,
                                            .count = left_out == PART_COUNT,
                                            .anew = left_out == PART_ANEW};
}

static void take_name(struct registers *at)
{
    struct naming_renaming renaming;
    naming_rename(&renaming, at, world.without);
    mine(at)->gathered = NEVER;
}

/* What the last owner knew is gone with it. A claim changes the life in any case. */
void model_claim(unsigned place, unsigned name)
{
    struct registers at = {.self = place, .target = name};
    const struct place before = *mine(&at);
    *mine(&at) = (struct place){
        .life = before.life, .name = before.name, .tag = before.tag, .number = before.number};
    take_name(&at);
    if (world.without.life)
        naming_come_alive(&at);
}

void model_rename(unsigned place, unsigned name)
{
    struct registers at = {.self = place, .target = name};
    struct naming_gather gather;
    take_name(&at);
    naming_gather(&gather, &at, !world.without.anew, world.without);
}

void model_gather(unsigned place)
{
    struct registers at = {.self = place};
    struct naming_gather gather;
    naming_gather(&gather, &at, false, world.without);
}

static word read(struct registers *at, unsigned j)
{
    struct naming_reading reading = {0};
    naming_read(&reading, at, j, world.without);
    return reading.w;
}

uint64_t model_look(unsigned place, unsigned *count)
{
    struct registers at = {.self = place};
    uint64_t sum = 0;
    *count = 0;
    if (!model_gathered(place))
        model_gather(place);
    for (unsigned j = naming_next_gathered(&at, 0); j < MODEL_PLACES;
         j = naming_next_gathered(&at, j + 1)) {
        sum += read(&at, j);
        ++*count;
    }
    return sum;
}

uint64_t model_draw(unsigned place)
{
    struct registers at = {.self = place};
    struct naming_meeting meeting;
    word largest = 0;
    for (unsigned j = naming_next(&at, 0); j < MODEL_PLACES; j = naming_next(&at, j + 1)) {
        if (!naming_tagged(&at, j))
            continue;
        if (!naming_stands(&at, j))
            naming_meet(&meeting, &at, j);
        const word number = read(&at, j);
        if (known(&at, j)->rival)
            raise(&largest, number);
    }
    naming_floor(&at);
    raise(&largest, mine(&at)->floor);
    raise(&largest, mine(&at)->number);
    return mine(&at)->number = largest + 1;
}

void model_end(unsigned place)
{
    change_life(&world.place[place].life, false);
}

/* ---- what is seen ---- */

bool model_alive(unsigned place)
{
    return world.place[place].life.alive;
}

struct model_view model_view(unsigned place, unsigned other)
{
    const struct registers at = {.self = place};
    const struct known *seen = known(&at, other);
    return (struct model_view){.met = naming_knows(&at, other),
                               .stands = naming_stands(&at, other),
                               .rival = seen->rival,
                               .alive = seen->alive,
                               .gathered = mine(&at)->rivals[other]};
}

uint64_t model_floor(unsigned place)
{
    return world.place[place].floor;
}

bool model_gathered(unsigned place)
{
    const struct place *its = &world.place[place];
    return its->gathered == 1 + world.claims[first_alike(its->name)];
}
