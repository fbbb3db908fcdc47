/* SPDX-License-Identifier: MIT */
/* `courtesy` under the checker, and without each of the parts that look redundant. */
#include <stdio.h>

#include "check/registers/models/courtesy_places.h"
#include "check/registers/models/models.h"
#include "check/registers/models/renumber.h"
#include "check/registers/naming_state.h"
#include "protocols/registers/courtesy/courtesy.h"

#define WITHOUT(part) courtesy_run(my, at, (struct courtesy_without){.part = true})

MODEL_PASSAGE(enter, courtesy, courtesy_enter(my, at))
MODEL_PASSAGE(enter_without_look, courtesy, WITHOUT(look))
MODEL_PASSAGE(enter_without_choosing, courtesy, WITHOUT(choosing))
MODEL_PASSAGE(enter_without_incarnation, courtesy, WITHOUT(incarnation))
MODEL_PASSAGE(enter_without_step_back, courtesy, WITHOUT(step_back))
MODEL_PASSAGE(enter_without_withdrawal, courtesy, WITHOUT(withdrawal))
MODEL_PASSAGE(enter_without_bound, courtesy, WITHOUT(bound))
MODEL_PASSAGE(enter_without_raise, courtesy, WITHOUT(raise))
MODEL_PASSAGE(enter_without_recall, courtesy, WITHOUT(recall))
MODEL_PASSAGE(enter_without_barrier, courtesy, WITHOUT(barrier))
MODEL_PASSAGE(enter_without_retained, courtesy, WITHOUT(retained))
MODEL_PASSAGE(enter_without_sweep, courtesy, WITHOUT(sweep))
MODEL_PASSAGE(enter_without_heed, courtesy, WITHOUT(heed))
MODEL_PASSAGE(enter_without_later, courtesy, WITHOUT(later))
MODEL_PASSAGE(enter_without_recount, courtesy, WITHOUT(recount))
MODEL_PASSAGE(enter_without_patience, courtesy, WITHOUT(patience))
MODEL_PASSAGE(enter_without_rouse, courtesy, WITHOUT(rouse))
MODEL_PASSAGE(enter_without_listening, courtesy, WITHOUT(listening))
MODEL_PASSAGE(enter_without_sights, courtesy, WITHOUT(sights))
MODEL_PASSAGE(enter_without_quiet, courtesy, WITHOUT(quiet))
MODEL_PASSAGE(enter_without_slots, courtesy,
              courtesy_run_alone(my, at, (struct courtesy_without){0}))
MODEL_PASSAGE(leave, courtesy, courtesy_leave(my, at))
MODEL_PASSAGE(leave_alone, courtesy, courtesy_depart(&my->departure, at))
MODEL_PASSAGE(hold, courtesy, courtesy_hold(my, at))
MODEL_PASSAGE(give_back, courtesy, courtesy_give_back(my, at))

/* Whether whoever excludes passages in `mode` is all that excludes them in `weaker`, and more. */
static bool is_weaker(const struct registers *at, unsigned weaker, unsigned mode)
{
    for (unsigned other = 0; other < MODEL_MODES; other++)
        if (registers_excludes(at, weaker, other) && !registers_excludes(at, mode, other))
            return false;
    return true;
}

static enum passage_result convert_without(struct courtesy_passage *my, struct registers *at,
                                           struct courtesy_without without)
{
    return is_weaker(at, at->target, registers_mode(at))
               ? courtesy_downgrade(my, at, at->target)
               : courtesy_upgrade(my, at, at->target, without);
}

#define CONVERT_WITHOUT(part) convert_without(my, at, (struct courtesy_without){.part = true})

MODEL_PASSAGE(convert, courtesy, convert_without(my, at, (struct courtesy_without){0}))
MODEL_PASSAGE(convert_without_store, courtesy, CONVERT_WITHOUT(ahead))
MODEL_PASSAGE(convert_without_express, courtesy, CONVERT_WITHOUT(express))
MODEL_PASSAGE(convert_without_stronger, courtesy, CONVERT_WITHOUT(stronger))
MODEL_PASSAGE(convert_without_refusal, courtesy, CONVERT_WITHOUT(refusal))
MODEL_PASSAGE(convert_without_call, courtesy, CONVERT_WITHOUT(call))
MODEL_PASSAGE(stay, courtesy, courtesy_keep_mode(my, at))
MODEL_PASSAGE(enter_without_way, courtesy, WITHOUT(way))
MODEL_PASSAGE(enter_without_turn, courtesy, WITHOUT(turn))

static bool weakens(const struct registers *at)
{
    return is_weaker(at, at->target, registers_mode(at));
}

static bool refused(const void *my)
{
    return ((const struct courtesy_passage *)my)->conversion.refused;
}

static word dead(unsigned index, word value)
{
    return index == 0 ? courtesy_dead(value) : 0;
}

static bool active(word first)
{
    return courtesy_state(first) != COURTESY_IDLE;
}

static word fence(word first)
{
    return courtesy_number(first);
}

static void write_value(unsigned index, word value, char *text, size_t room)
{
    static const char *const states[] = {"idle",    "choosing", "queued",  "asleep",
                                         "aside",   "claims",   "inside",  "holding",
                                         "express", "retained", "upgrades"};
    static const char *const modes[] = {"", " shared", " protected", ""};
    if (index > 0)
        snprintf(text, room, "%u", value);
    else
        snprintf(text, room, "%s%s %u", states[courtesy_state(value)], modes[courtesy_mode(value)],
                 courtesy_number(value));
}

/* Whether an incarnation was seen is all that matters of it: the current one is 0, an earlier one
 * is UNLIKE. */
enum { UNLIKE = (1 << INCARNATION_BITS) - 1 };

static word with_incarnation(word w, word incarnation)
{
    return courtesy_word(courtesy_state(w), courtesy_mode(w), incarnation, courtesy_number(w));
}

/* All that a passage watches. */
enum { WATCHES = 4 };
static struct watch *watch_of(struct courtesy_passage *my, unsigned which)
{
    struct watch *const watches[WATCHES] = {&my->watch, &my->slots.last, &my->slots.room.first,
                                            &my->slots.vacation.room.first};
    return watches[which];
}

/* Only a death leaves an incarnation that is not 0. */
static void forget_incarnations(const struct register_model *model, unsigned char *state)
{
    for (unsigned who = 0; who < model->system.processes; who++) {
        word *w = model_words(model, state, who);
        const unsigned place = model->place_of[who];
        if (courtesy_incarnation(*w) == 0)
            continue;
        for (unsigned other = 0; other < model->system.processes; other++) {
            struct courtesy_passage *my = model_passage(model, state, other);
            if (my->scan.first && my->scan.j == place)
                my->scan.first = with_incarnation(my->scan.first, UNLIKE);
            if (my->conversion.first && my->conversion.j == place)
                my->conversion.first = with_incarnation(my->conversion.first, UNLIKE);
            if (my->scan.recall.seen && my->scan.j == place)
                my->scan.recall.seen = with_incarnation(my->scan.recall.seen, UNLIKE);
            for (unsigned which = 0; which < WATCHES; which++)
                if (watch_has(watch_of(my, which), place))
                    watch_of(my, which)->seen[place] =
                        with_incarnation(watch_of(my, which)->seen[place], UNLIKE);
            if (my->sights.places >> place & 1)
                my->sights.seen[place] = with_incarnation(my->sights.seen[place], UNLIKE);
            if (model->renames)
                naming_forget_word(model, state, other, place);
        }
        *w = with_incarnation(*w, 0);
    }
}

/* How many numbers this process may yet draw below or at one that exists now. A doorway or a look
 * that has begun may have passed the place of that number before it was there: one. A look that
 * begins later sees it, unless its owner is no rival. */
static unsigned landings(const struct register_model *model, const unsigned char *state,
                         unsigned who)
{
    const struct courtesy_passage *my = model_passage(model, state, who);
    const enum part part = model_process(model, state, who)->part;
    /* Who has another name draws below what it does not see, in every passage that it has left: in
     * its doorway, and when it enters. */
    if (model->renames)
        return 2u * (model->passages - model_process(model, state, who)->begun +
                     (part == PART_ENTERING));
    /* One that goes in again draws the number after its own, however great the others are. */
    if (model->protocol->withdrawn && model_words(model, state, who)[COURTESY_GRANT])
        return 2;
    if (part == PART_PARTING || part == PART_HOLDING)
        return 1; /* it will give back with a number one above its own */
    if (part == PART_CONVERTING)
        return my->conversion.head.point || my->conversion.most;
    if (part != PART_ENTERING)
        return 0;
    const bool drawing = my->express.glance.head.point || my->express.glance.most ||
                         (model->protocol->brief && my->express.head.point) ||
                         my->doorway.head.point || my->claim.look.head.point || my->claim.look.most;
    return drawing + !model->system.all_conflict;
}

static void renumber_word(const struct renumber *numbers, word *w)
{
    *w = courtesy_numbered(courtesy_state(*w), *w, numbers->fresh[courtesy_number(*w)]);
}

static void renumber_passage(const struct register_model *model, struct courtesy_passage *my,
                             const struct renumber *numbers)
{
    if (my->doorway.head.point)
        my->doorway.most = numbers->fresh[my->doorway.most];
    if (my->scan.first)
        renumber_word(numbers, &my->scan.first);
    if (my->conversion.first)
        renumber_word(numbers, &my->conversion.first);
    if (my->conversion.most)
        my->conversion.most = (word)(numbers->fresh[my->conversion.most - 1] + 1);
    if (my->scan.recall.seen)
        renumber_word(numbers, &my->scan.recall.seen);
    if (my->scan.most)
        my->scan.most = (word)(numbers->fresh[my->scan.most - 1] + 1);
    if (my->scan.oldest)
        my->scan.oldest = (word)(numbers->fresh[my->scan.oldest - 1] + 1);
    if (my->express.glance.most)
        my->express.glance.most = (word)(numbers->fresh[my->express.glance.most - 1] + 1);
    if (my->express.glance.oldest)
        my->express.glance.oldest = (word)(numbers->fresh[my->express.glance.oldest - 1] + 1);
    if (my->claim.look.most)
        my->claim.look.most = (word)(numbers->fresh[my->claim.look.most - 1] + 1);
    if (my->claim.look.oldest)
        my->claim.look.oldest = (word)(numbers->fresh[my->claim.look.oldest - 1] + 1);
    for (unsigned which = 0; which < WATCHES; which++)
        for (unsigned place = 0; place < model->places; place++)
            if (watch_has(watch_of(my, which), place))
                renumber_word(numbers, &watch_of(my, which)->seen[place]);
    for (unsigned place = 0; place < model->places; place++)
        if (my->sights.places >> place & 1)
            renumber_word(numbers, &my->sights.seen[place]);
}

static void gather_passage(const struct register_model *model, struct courtesy_passage *my,
                           struct renumber *numbers)
{
    if (my->doorway.head.point)
        renumber_add(numbers, my->doorway.most);
    if (my->scan.first)
        renumber_add(numbers, courtesy_number(my->scan.first));
    if (my->conversion.first)
        renumber_add(numbers, courtesy_number(my->conversion.first));
    if (my->conversion.most)
        renumber_add(numbers, (word)(my->conversion.most - 1));
    if (my->scan.recall.seen)
        renumber_add(numbers, courtesy_number(my->scan.recall.seen));
    if (my->scan.most)
        renumber_add(numbers, (word)(my->scan.most - 1));
    if (my->scan.oldest)
        renumber_add(numbers, (word)(my->scan.oldest - 1));
    if (my->express.glance.most)
        renumber_add(numbers, (word)(my->express.glance.most - 1));
    if (my->express.glance.oldest)
        renumber_add(numbers, (word)(my->express.glance.oldest - 1));
    if (my->claim.look.most)
        renumber_add(numbers, (word)(my->claim.look.most - 1));
    if (my->claim.look.oldest)
        renumber_add(numbers, (word)(my->claim.look.oldest - 1));
    for (unsigned which = 0; which < WATCHES; which++)
        for (unsigned place = 0; place < model->places; place++)
            if (watch_has(watch_of(my, which), place))
                renumber_add(numbers, courtesy_number(watch_of(my, which)->seen[place]));
    for (unsigned place = 0; place < model->places; place++)
        if (my->sights.places >> place & 1)
            renumber_add(numbers, courtesy_number(my->sights.seen[place]));
}

/* What naming keeps of numbers. */
static void gather_naming(const struct naming_state *naming, struct renumber *numbers)
{
    renumber_add(numbers, naming->floor);
    renumber_add(numbers, naming->left);
    if (naming->fetch.reading.w)
        renumber_add(numbers, courtesy_number(naming->fetch.reading.w));
}

static void renumber_naming(const struct renumber *numbers, struct naming_state *naming)
{
    naming->floor = numbers->fresh[naming->floor];
    naming->left = numbers->fresh[naming->left];
    if (naming->fetch.reading.w)
        renumber_word(numbers, &naming->fetch.reading.w);
}

static void normalise(const struct register_model *model, unsigned char *state)
{
    struct renumber numbers;
    unsigned most = 1;
    numbers.present = 0;
    forget_incarnations(model, state);
    if (model->renames)
        naming_tidy(model, state);
    for (unsigned who = 0; who < model->system.processes; who++) {
        struct courtesy_passage *my = model_passage(model, state, who);
        /* Without overtaking it matters only whether there is an oldest. */
        if (model->overtake == 0) {
            if (my->claim.look.oldest)
                my->claim.look.oldest =
                    (word)(courtesy_number(*model_words(model, state, who)) + 1);
            my->scan.most = 0;
        }
        renumber_add(&numbers, courtesy_number(*model_words(model, state, who)));
        gather_passage(model, model_passage(model, state, who), &numbers);
        if (model->renames)
            gather_naming(naming_of(model, state, who), &numbers);
        if (model->tso)
            for (unsigned at = 0; at < model_buffer(model, state, who)->count; at++)
                if (model_buffer(model, state, who)->store[at].index == 0)
                    renumber_add(&numbers,
                                 courtesy_number(model_buffer(model, state, who)->store[at].value));
        most += landings(model, state, who);
    }
    renumber_add_fence(&numbers, model, state);
    /* With a bound on overtaking, distances up to it are compared as well. */
    if (!renumber_close_gaps(&numbers, most + model->overtake))
        return;
    renumber_fence(&numbers, model, state);
    for (unsigned who = 0; who < model->system.processes; who++) {
        renumber_word(&numbers, model_words(model, state, who));
        renumber_passage(model, model_passage(model, state, who), &numbers);
        if (model->renames)
            renumber_naming(&numbers, naming_of(model, state, who));
        if (model->tso)
            for (unsigned at = 0; at < model_buffer(model, state, who)->count; at++)
                if (model_buffer(model, state, who)->store[at].index == 0)
                    renumber_word(&numbers, &model_buffer(model, state, who)->store[at].value);
    }
}

static word withdrawn(word first)
{
    return courtesy_state(first) == COURTESY_RETAINED ? courtesy_in(COURTESY_IDLE, first) : first;
}

/* The word, BUSY, RECALLED, the grant. */
static unsigned retain_words(unsigned places)
{
    return (void)places, 4;
}

#define COURTESY_COMMON(title, text, run, leaves, found)                                           \
    .name = title, .summary = text, .places_least = 2, .places_most = WATCH_MOST,                  \
    .passage_size = sizeof(struct courtesy_passage), .enter = run, .leave = leaves, .dead = dead,  \
    .active = active, .normalise = normalise, .fence = fence, .write_value = write_value,          \
    .sleeps = true, .cursor = courtesy_cursor, .numbers = courtesy_numbers,                        \
    .relabel = courtesy_relabel, .firsts = courtesy_firsts, .hasten = courtesy_hasten,             \
    .refutes = found

/* Retained whenever nobody is about; no order is promised: it goes in until it is recalled. */
#define RETAINED .words = retain_words, .promises = PROMISES_FAIR, .withdrawn = withdrawn
#define COURTESY_RETAIN(identifier, title, text, run, found, ...)                                  \
    const struct register_protocol identifier = {COURTESY_COMMON(title, text, run, leave, found),  \
                                                 RETAINED, .modes = true, __VA_ARGS__};

#define COURTESY_MODEL(identifier, title, text, run, found)                                        \
    COURTESY_LEAVING(identifier, title, text, run, leave, NULL, found)
/* The last: which word of the model does nothing. */
#define COURTESY_LEAVING(identifier, title, text, run, leaves, holds, found, ...)                  \
    const struct register_protocol identifier = {                                                  \
        COURTESY_COMMON(title, text, run, leaves, found),                                          \
        .hold = holds,                                                                             \
        .promises = PROMISES_FAIR | 1u << PROPERTY_ORDER | 1u << PROPERTY_OVERTAKING,              \
        .begins_with_write = true,                                                                 \
        .slots = true,                                                                             \
        .modes = true,                                                                             \
        .conditions = true,                                                                        \
        .priorities = true,                                                                        \
        .names = true,                                                                             \
        __VA_ARGS__};

/* Passages may be converted. */
#define COURTESY_CONVERTING(identifier, title, text, run, converts, found)                         \
    COURTESY_LEAVING(identifier, title, text, run, leave, NULL, found, .convert = converts,        \
                     .stay = stay, .weakens = weakens, .refused = refused)

/* Passages that stop where others sleep. Conditions are left out: SLUMBER has no such model. */
#define COURTESY_ASKS(identifier, title, text, how, found)                                         \
    const struct register_protocol identifier = {                                                  \
        COURTESY_COMMON(title, text, enter, leave, found),                                         \
        .promises = PROMISES_FAIR | 1u << PROPERTY_ORDER | 1u << PROPERTY_OVERTAKING,              \
        .begins_with_write = true,                                                                 \
        .slots = true,                                                                             \
        .modes = true,                                                                             \
        .priorities = true,                                                                        \
        .asking = how};

COURTESY_CONVERTING(model_courtesy, "courtesy", "ours: the region from one word a place", enter,
                    convert, NULL)
COURTESY_LEAVING(model_courtesy_units, "courtesy-units",
                 "the same, holding a unit outside: take and of", enter, give_back, hold, NULL)
COURTESY_LEAVING(model_courtesy_brief, "courtesy-brief",
                 "the same, with the brief looks that an engine makes first: at words alone", enter,
                 leave, NULL, NULL, .brief = true)
COURTESY_LEAVING(model_courtesy_brief_without_quiet, "courtesy-brief-without-quiet",
                 "takes whoever is about for quiet", enter_without_quiet, leave, NULL, "exclusion",
                 .brief = true)
COURTESY_MODEL(model_courtesy_without_look, "courtesy-without-look",
               "enters as soon as it has claimed", enter_without_look, "exclusion")
COURTESY_MODEL(model_courtesy_without_choosing, "courtesy-without-choosing",
               "passes who is choosing", enter_without_choosing, "order")
COURTESY_MODEL(model_courtesy_without_incarnation, "courtesy-without-incarnation",
               "waits on for a place that died and chooses again", enter_without_incarnation,
               "reliability")
COURTESY_MODEL(model_courtesy_without_step_back, "courtesy-without-step-back",
               "all claimants keep their claims", enter_without_step_back, "progress")
COURTESY_MODEL(model_courtesy_without_withdrawal, "courtesy-without-withdrawal",
               "steps back without waking who slept on its claim", enter_without_withdrawal,
               "progress")
COURTESY_MODEL(model_courtesy_without_bound, "courtesy-without-bound",
               "passes sleepers without limit", enter_without_bound, "overtaking")
COURTESY_MODEL(model_courtesy_without_raise, "courtesy-without-raise",
               "keeps its number when it enters", enter_without_raise, "fence")
COURTESY_LEAVING(model_courtesy_units_without_sights, "courtesy-units-without-sights",
                 "aside, takes only a number above its own for a change", enter_without_sights,
                 give_back, hold, "progress")
COURTESY_MODEL(model_courtesy_without_sweep, "courtesy-without-sweep",
               "keeps watching a place that is no rival any more", enter_without_sweep, "quiet")
COURTESY_MODEL(model_courtesy_without_heed, "courtesy-without-heed",
               "steps back, or goes aside, without a look at its deadline", enter_without_heed,
               "giving-up")
COURTESY_MODEL(model_courtesy_without_later, "courtesy-without-later",
               "slots: with a later ticket, who claims or is inside takes none",
               enter_without_later, "exclusion")
COURTESY_MODEL(model_courtesy_without_recount, "courtesy-without-recount",
               "slots: enters without having counted again after it claimed", enter_without_recount,
               "exclusion")
COURTESY_MODEL(model_courtesy_without_patience, "courtesy-without-patience",
               "slots: claims where there is room, and steps back from whoever waits before it",
               enter_without_patience, "quiet")
COURTESY_MODEL(model_courtesy_without_rouse, "courtesy-without-rouse",
               "slots: aside, does not see that somebody has left", enter_without_rouse, "progress")
COURTESY_LEAVING(model_courtesy_without_slots, "courtesy-without-slots",
                 "slots: one is inside at a time, however many there are", enter_without_slots,
                 leave_alone, NULL, "reached")
COURTESY_LEAVING(model_courtesy_without_rousing, "courtesy-without-rousing",
                 "nobody rouses who is aside", enter, leave, NULL, "able", .rouses_nobody = true)
COURTESY_LEAVING(model_courtesy_without_precedence, "courtesy-without-precedence",
                 "first come, first served, whatever the precedence", enter, leave, NULL,
                 "precedence", .knows_no_precedence = true)
COURTESY_LEAVING(model_courtesy_units_without_listening, "courtesy-units-without-listening",
                 "aside, listens only after it has looked", enter_without_listening, give_back,
                 hold, "progress")
COURTESY_RETAIN(model_courtesy_retain, "courtesy-retain", "the same, with retained permission",
                enter, NULL)
COURTESY_RETAIN(model_courtesy_retain_brief, "courtesy-retain-brief",
                "likewise, with brief looks at words alone", enter, NULL, .brief = true)
COURTESY_RETAIN(model_courtesy_retain_without_recall, "courtesy-retain-without-recall",
                "goes in again though it was recalled", enter_without_recall, "exclusion")
COURTESY_RETAIN(model_courtesy_retain_without_barrier, "courtesy-retain-without-barrier",
                "recalls without a barrier in the owner's threads (TSO)", enter_without_barrier,
                "exclusion")
COURTESY_RETAIN(model_courtesy_retain_without_retained, "courtesy-retain-without-retained",
                "enters once a rival that it saw inside has retained its permission",
                enter_without_retained, "fence")
COURTESY_CONVERTING(model_courtesy_convert_without_store, "courtesy-convert-without-store",
                    "looks who is inside before it says that it upgrades", enter,
                    convert_without_store, "exclusion")
COURTESY_CONVERTING(model_courtesy_convert_without_express, "courtesy-convert-without-express",
                    "upgrades without waiting for who is on the express lane", enter,
                    convert_without_express, "exclusion")
COURTESY_CONVERTING(model_courtesy_convert_without_stronger, "courtesy-convert-without-stronger",
                    "says that it upgrades, in the mode that it had", enter,
                    convert_without_stronger, "exclusion")
COURTESY_CONVERTING(model_courtesy_convert_without_refusal, "courtesy-convert-without-refusal",
                    "two that upgrade wait for each other", enter, convert_without_refusal,
                    "progress")
COURTESY_CONVERTING(model_courtesy_convert_without_call, "courtesy-convert-without-call",
                    "wakes no claimant when it says that it upgrades", enter, convert_without_call,
                    "progress")
COURTESY_CONVERTING(model_courtesy_convert_without_way, "courtesy-convert-without-way",
                    "a claimant keeps its claim before one that upgrades", enter_without_way,
                    convert, "exclusion")
COURTESY_CONVERTING(model_courtesy_convert_without_turn, "courtesy-convert-without-turn",
                    "who may convert passes those who wait, as if it could not", enter_without_turn,
                    convert, "lockout")

/* Places change their names: without a part of naming.h. */
#define COURTESY_RENAMING(identifier, title, text, part, found)                                    \
    static const struct naming_without naming_without_##part = {.part = true};                     \
    COURTESY_LEAVING(identifier, title, text, enter, leave, NULL, found,                           \
                     .naming = &naming_without_##part)

COURTESY_RENAMING(model_courtesy_rename_without_behind, "courtesy-rename-without-behind",
                  "looks whether a place is as it knew it, and only then at its word", behind,
                  "progress")
COURTESY_RENAMING(model_courtesy_rename_without_before, "courtesy-rename-without-before",
                  "gathers its rivals, and only then notes how many have come", before, "exclusion")
COURTESY_RENAMING(model_courtesy_rename_without_below, "courtesy-rename-without-below",
                  "looks at the floor, and only then at the tags", below, "fence")
COURTESY_RENAMING(model_courtesy_rename_without_life, "courtesy-rename-without-life",
                  "takes another name in the same life", life, "progress")
COURTESY_RENAMING(model_courtesy_rename_without_number, "courtesy-rename-without-number",
                  "leaves no number behind", number, "fence")
COURTESY_RENAMING(model_courtesy_rename_without_tag, "courtesy-rename-without-tag",
                  "stores its tag after it has counted itself", tag, "exclusion")
COURTESY_RENAMING(model_courtesy_rename_without_count, "courtesy-rename-without-count",
                  "does not say to those of its new name that it has come", count, "exclusion")
COURTESY_RENAMING(model_courtesy_rename_without_anew, "courtesy-rename-without-anew",
                  "keeps what it knew of the others by its old name", anew, "exclusion")

COURTESY_ASKS(model_courtesy_asks, "courtesy-asks",
              "the same, asked for: a helper watches, and the program goes on", ASKS, NULL)
COURTESY_ASKS(model_courtesy_asks_linking_late, "courtesy-asks-linking-late",
              "looks at its words before somebody watches them", ASKS_LINKING_LATE, "progress")
COURTESY_ASKS(model_courtesy_asks_draining_late, "courtesy-asks-draining-late",
              "finds nothing decided, and reads the descriptor a step later", ASKS_DRAINING_LATE,
              "progress")
COURTESY_ASKS(model_courtesy_asks_hinted, "courtesy-asks-hinted",
              "the same, and who leaves makes the descriptor readable", ASKS_HINTED, NULL)
COURTESY_ASKS(model_courtesy_asks_hints_alone, "courtesy-asks-hints-alone",
              "who leaves takes it that the descriptor has become readable", ASKS_HINTS_ALONE,
              "progress")
