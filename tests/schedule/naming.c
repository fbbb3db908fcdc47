/* SPDX-License-Identifier: MIT */
/* The engine's renaming beside the text that the checker searches (protocols/registers/naming.h):
 * both go through the same steps, drawn at random, and after each what every region knows of every
 * place is compared: whom it has met, who is as it was then, who is alive, who is a rival and was
 * gathered, whether it would gather anew, and above which number it draws.
 *
 * usage: naming [SEED]: that one alone, and tells each step
 *
 * Steps: a place is claimed, here or by a process that will be killed; a region is renamed, closed;
 * it gathers its rivals, looks at them, or draws a number above all that it sees. Each is made
 * whole, for what may fall between their accesses is searched: of the text by the checker, of the
 * engine by `schedules`. Among the names are two with one tag and one bucket, and two with one
 * bucket.
 *
 * That a difference would be seen: with a part of the text left out, one is. mutants.py leaves
 * parts of the engine out. */
#include "../memory/harness.h"
#include "memory/passage/words.h"
#include "naming_model.h"

enum { SEEDS = 12, STEPS = 600, NONE = -1 };

/* Those that this process has open, by place; or a process that has one. */
static struct {
    ay_region *region;
    pid_t mortal;
} owner[MODEL_PLACES];
static ay_space *space;
static char names[MODEL_NAMES][16];
static struct model_name found[MODEL_NAMES];
static bool tells;
static uint64_t state; /* of the generator */

static unsigned draw(unsigned below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % below;
}

/* ---- names ---- */

static uint64_t hash(const char *name)
{
    struct name read = {.length = (uint8_t)strlen(name)};
    memcpy(read.bytes, name, read.length);
    return ay__name_hash(&read);
}

static bool same_tag(uint64_t one, uint64_t other)
{
    return tag_of(one) == tag_of(other);
}

static bool same_bucket(uint64_t one, uint64_t other)
{
    return bucket_of(one) == bucket_of(other);
}

/* The first name, beside one that was found, that is as alike as it is to be. */
static void find_name(unsigned which, unsigned beside, bool tag, bool bucket)
{
    const uint64_t there = hash(names[beside]);
    for (unsigned number = 0;; number++) {
        snprintf(names[which], sizeof names[which], "%c%u", 'a' + (int)which, number);
        const uint64_t here = hash(names[which]);
        if (same_tag(here, there) == tag && same_bucket(here, there) == bucket)
            return;
    }
}

static void find_names(void)
{
    strcpy(names[0], "a");
    find_name(1, 0, true, true);
    find_name(2, 0, false, true);
    find_name(3, 0, false, false);
    find_name(4, 3, false, false);
    for (unsigned name = 0; name < MODEL_NAMES; name++)
        found[name] = (struct model_name){.tag = tag_of(hash(names[name])),
                                          .bucket = bucket_of(hash(names[name]))};
}

/* ---- steps of the engine ---- */

static uint64_t number_of(const struct registers *at, word value)
{
    return protocol_number(at->fixed.protocol, value);
}

/* As a doorway does, and idle again. */
static uint64_t engine_draw(ay_region *region)
{
    struct registers *at = &region->at;
    const struct running_protocol *protocol = at->fixed.protocol;
    uint64_t largest = number_of(at, at->mine.word);
    for (unsigned place = registers_next(at, 0); place < at->fixed.places;
         place = registers_next(at, place + 1)) {
        const uint64_t number = number_of(at, registers_read(at, place, 0));
        if (registers_rival(at, place) && number > largest)
            largest = number;
    }
    const uint64_t drawn = registers_draw(at, largest, 0);
    const word mask = ((UINT64_C(1) << protocol->number_bits) - 1) << protocol->number_shift;
    registers_write(at, 0, (at->mine.word & ~mask) | drawn << protocol->number_shift);
    return drawn;
}

static uint64_t engine_look(ay_region *region, unsigned *count)
{
    struct registers *at = &region->at;
    uint64_t sum = 0;
    *count = 0;
    for (unsigned place = registers_next_rival(at, 0); place < at->fixed.places;
         place = registers_next_rival(at, place + 1)) {
        sum += number_of(at, registers_read(at, place, 0));
        ++*count;
    }
    return sum;
}

static bool engine_gathered(const struct rivals *rivals, unsigned place)
{
    for (unsigned which = 0; which < rivals->run_count; which++)
        if (place >= rivals->runs[which].place && place < rivals->runs[which].end)
            return true;
    return false;
}

static struct model_view engine_view(const ay_region *region, unsigned place)
{
    const struct registers *at = &region->at;
    const struct acquaintance *other = acquaintance_of(&at->rivals.met, place);
    return (struct model_view){.met = other->known != 0,
                               .stands = other->known != 0 && acquaintance_stands(other),
                               .rival = other->rival,
                               .alive = other->alive,
                               .gathered = engine_gathered(&at->rivals, place)};
}

/* ---- comparing ---- */

#define DIFFERS(...)                                                                               \
    do {                                                                                           \
        if (tells)                                                                                 \
            printf(__VA_ARGS__);                                                                   \
        return true;                                                                               \
    } while (0)

static bool place_differs(unsigned place)
{
    const ay_region *region = owner[place].region;
    for (unsigned other = 0; other < MODEL_PLACES; other++) {
        const struct model_view ours = engine_view(region, other), its = model_view(place, other);
        if (other != place && (ours.met != its.met || ours.gathered != its.gathered ||
                               (ours.met && (ours.stands != its.stands || ours.alive != its.alive ||
                                             ours.rival != its.rival))))
            DIFFERS("what %u knows of %u: the engine (met %d, stands %d, alive %d, rival %d, "
                    "gathered %d), the text (%d, %d, %d, %d, %d)\n",
                    place, other, ours.met, ours.stands, ours.alive, ours.rival, ours.gathered,
                    its.met, its.stands, its.alive, its.rival, its.gathered);
    }
    if (registers_gathered(&region->at) != model_gathered(place))
        DIFFERS("whether %u gathers anew: the engine %d, the text %d\n", place,
                !registers_gathered(&region->at), !model_gathered(place));
    if (region->at.rivals.floor != model_floor(place))
        DIFFERS("the floor of %u: the engine %llu, the text %llu\n", place,
                (unsigned long long)region->at.rivals.floor,
                (unsigned long long)model_floor(place));
    return false;
}

static bool any_differs(void)
{
    for (unsigned place = 0; place < MODEL_PLACES; place++)
        if (owner[place].region && place_differs(place))
            return true;
    return false;
}

static bool numbers_differ(unsigned place, uint64_t ours, uint64_t its)
{
    if (ours != its)
        DIFFERS("the number that %u draws or reads: the engine %llu, the text %llu\n", place,
                (unsigned long long)ours, (unsigned long long)its);
    return false;
}

/* ---- steps of both; true: they differ ---- */

static unsigned count_owned(void)
{
    unsigned count = 0;
    for (unsigned place = 0; place < MODEL_PLACES; place++)
        count += owner[place].region || owner[place].mortal;
    return count;
}

static void claimed(unsigned place, unsigned name)
{
    CHECK(place < MODEL_PLACES && !model_alive(place));
    model_claim(place, name);
}

static bool step_claim(unsigned name)
{
    if (count_owned() == MODEL_PLACES)
        return false;
    ay_region *region = open_region(space, (ay_spec){.name = names[name]});
    const unsigned place = region->claim.place;
    claimed(place, name);
    owner[place].region = region;
    return false;
}

/* In a process of its own, which claims a place, draws a number there, and will be killed. */
static void live(unsigned name, int said)
{
    ay_space *its = open_space(NULL);
    ay_region *region = open_region(its, (ay_spec){.name = names[name]});
    const uint64_t answer[2] = {region->claim.place, engine_draw(region)};
    CHECK(write(said, answer, sizeof answer) == sizeof answer);
    for (;;)
        pause();
}

static bool step_mortal(unsigned name)
{
    int said[2];
    uint64_t answer[2];
    if (count_owned() == MODEL_PLACES)
        return false;
    CHECK(pipe(said) == 0);
    const pid_t pid = spawn();
    if (pid == 0)
        live(name, said[1]);
    CHECK(read(said[0], answer, sizeof answer) == sizeof answer);
    close(said[0]);
    close(said[1]);
    const unsigned place = (unsigned)answer[0];
    claimed(place, name);
    owner[place].mortal = pid;
    return numbers_differ(place, answer[1], model_draw(place));
}

static void end_mortal(unsigned place)
{
    kill_and_reap(owner[place].mortal);
    owner[place].mortal = 0;
}

static bool step_death(void)
{
    for (unsigned place = draw(MODEL_PLACES); place < MODEL_PLACES; place++)
        if (owner[place].mortal) {
            end_mortal(place);
            model_end(place);
            break;
        }
    return false;
}

static bool step_close(unsigned place)
{
    ay_region_close(owner[place].region);
    owner[place].region = NULL;
    model_end(place);
    return false;
}

static bool step_rename(unsigned place, unsigned name)
{
    CHECK_EQUAL(ay_region_rename(owner[place].region, names[name]), 0);
    model_rename(place, name);
    return false;
}

static bool step_gather(unsigned place)
{
    ay__gather(&owner[place].region->at);
    model_gather(place);
    return false;
}

static bool step_look(unsigned place)
{
    unsigned ours, its;
    const uint64_t sum = engine_look(owner[place].region, &ours);
    return numbers_differ(place, sum, model_look(place, &its)) || numbers_differ(place, ours, its);
}

static bool step_draw(unsigned place)
{
    return numbers_differ(place, engine_draw(owner[place].region), model_draw(place));
}

static bool step(void)
{
    const unsigned kind = draw(100), name = draw(MODEL_NAMES), place = draw(MODEL_PLACES);
    const char *what = NULL;
    bool differs = false;
#define STEP_OF(below, word, made)                                                                 \
    if (!what && kind < (below)) {                                                                 \
        what = (word);                                                                             \
        differs = (made);                                                                          \
    }
    STEP_OF(12, "claim", step_claim(name))
    STEP_OF(16, "claim, elsewhere", step_mortal(name))
    STEP_OF(20, "death", step_death())
    if (!what && !owner[place].region)
        return false;
    STEP_OF(27, "close", step_close(place))
    STEP_OF(50, "rename", step_rename(place, name))
    STEP_OF(65, "gather", step_gather(place))
    STEP_OF(80, "look", step_look(place))
    STEP_OF(100, "draw", step_draw(place))
#undef STEP_OF
    if (tells)
        printf("%s (place %u, name %u)\n", what, place, name);
    return differs || any_differs();
}

/* After how many steps they differ; NONE: they do not. */
static int run(uint64_t seed, enum model_part left_out)
{
    int differ = NONE;
    state = seed;
    model_begin(found, left_out);
    unlink(test_space);
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.places = MODEL_PLACES}, &space), 0);
    for (int which = 0; which < STEPS && differ == NONE; which++)
        if (step())
            differ = which;
    for (unsigned place = 0; place < MODEL_PLACES; place++) {
        owner[place].region = NULL;
        if (owner[place].mortal)
            end_mortal(place);
    }
    ay_close(space);
    return differ;
}

static void test_left_out(enum model_part part, const char *name)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const int differ = run(seed, part);
        if (differ != NONE) {
            printf("without %s: they differ after %d steps of seed %d\n", name, differ, (int)seed);
            return;
        }
    }
    FAIL("without %s: no difference was found", name);
}

int main(int count, char **words)
{
    begin_test("naming");
    find_names();
    tells = count > 1;
    const uint64_t first = tells ? strtoull(words[1], NULL, 10) : 1, last = tells ? first : SEEDS;
    for (uint64_t seed = first; seed <= last; seed++) {
        const int differ = run(seed, PART_NONE);
        if (differ != NONE)
            FAIL("engine and text differ after %d steps: naming %d tells them", differ, (int)seed);
    }
    if (tells)
        return 0;
    test_left_out(PART_LIFE, "a new life");
    test_left_out(PART_NUMBER, "the number left behind");
    test_left_out(PART_COUNT, "the count");
    test_left_out(PART_ANEW, "gathering anew");
    return 0;
}
