/* SPDX-License-Identifier: MIT */
/* What an engine that runs makes of the register protocols, every access being a call of a function
 * that nobody sees into: two texts that compile to the same code here are the same program to an
 * engine. tools/mutants/judge.py compiles it with the mutant in the place of the protocol and with
 * SHIPS_… defined for one protocol; nothing runs. */
#include "protocols/language/registers.h"

/* Of an assertion the condition counts, not on which line it stands. */
#undef ASSERT
#define ASSERT(name, condition)                                                                    \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0))                                                     \
            registers_broken(at, #name, #condition, "", 0);                                        \
    } while (0)

#define STEADY __attribute__((const)) /* says the same throughout a passage */

STEADY unsigned registers_self(const struct registers *at);
STEADY unsigned registers_places(const struct registers *at);
STEADY unsigned registers_mode(const struct registers *at);
STEADY unsigned registers_strongest(const struct registers *at);
STEADY bool registers_excludes(const struct registers *at, unsigned mode, unsigned other);
STEADY bool registers_admits(const struct registers *at);
STEADY unsigned registers_slots(const struct registers *at);
STEADY unsigned registers_overtake(const struct registers *at);
STEADY bool registers_conditional(const struct registers *at);
STEADY bool registers_retains(const struct registers *at);
STEADY bool registers_calm(const struct registers *at);
__attribute__((pure)) word registers_own(const struct registers *at, unsigned index);
__attribute__((pure)) bool registers_own_bit(const struct registers *at, unsigned index);
unsigned registers_next(const struct registers *at, unsigned place);
unsigned registers_next_rival(const struct registers *at, unsigned place);
word registers_read(const struct registers *at, unsigned place, unsigned index);
word registers_read_own(const struct registers *at, unsigned index);
bool registers_read_bit(const struct registers *at, unsigned place, unsigned index);
void registers_write(struct registers *at, unsigned index, word value);
void registers_write_late(struct registers *at, unsigned index, word value);
void registers_write_bit(struct registers *at, unsigned index, bool value);
void registers_keep(struct registers *at, unsigned index, word value);
bool registers_pause(struct registers *at, unsigned place, unsigned index, word seen);
bool registers_sleep(struct registers *at, const struct watch *watch, bool *woken);
bool registers_again(struct registers *at);
bool registers_heed(struct registers *at);
bool registers_condition(struct registers *at);
bool registers_conflict(const struct registers *at, unsigned place, unsigned mode);
bool registers_rival(const struct registers *at, unsigned place);
bool registers_stays(const struct registers *at, unsigned place);
int registers_precedence(const struct registers *at, unsigned place);
void registers_wake(struct registers *at);
void registers_wake_one(struct registers *at, unsigned place);
void registers_rouse(struct registers *at, unsigned place);
void registers_listen(struct registers *at);
void registers_recall(struct registers *at, unsigned place, word seen);
void registers_broken(const struct registers *at, const char *invariant, const char *condition,
                      const char *file, unsigned line);
uint64_t registers_missed(const struct registers *at);
bool registers_none_above(const struct registers *at, word limit);
bool registers_none_with(const struct registers *at, word mask);
bool registers_none_to_wake(struct registers *at, word mask, word asleep);
word registers_draw(const struct registers *at, word largest, unsigned bits);

#define PASSAGE(protocol, name, call)                                                              \
    enum passage_result ships_##name(struct registers *at, unsigned any)                           \
    {                                                                                              \
        struct protocol##_passage passage = {0}, *my = &passage;                                   \
        (void)any;                                                                                 \
        return call;                                                                               \
    }
#define PASSAGES(protocol)                                                                         \
    PASSAGE(protocol, enter, protocol##_enter(my, at))                                             \
    PASSAGE(protocol, leave, protocol##_leave(my, at))
#define DEAD(function)                                                                             \
    word ships_dead(word w)                                                                        \
    {                                                                                              \
        return function(w);                                                                        \
    }

#ifdef SHIPS_PAIR
#include "protocols/registers/pair.h"
PASSAGES(pair)
#endif

#ifdef SHIPS_RACES
#include "protocols/registers/races.h"
PASSAGES(races)
#endif

#ifdef SHIPS_CLOCK
#include "protocols/registers/clock.h"
PASSAGES(clock)
#endif

#ifdef SHIPS_BAKERY
#include "protocols/registers/bakery.h"
PASSAGES(bakery)
DEAD(bakery_dead)
#endif

#ifdef SHIPS_REGION
#include "protocols/registers/region.h"
#define RULES ((struct region_rules){.precedence = any ? REGION_BY_CLASS : REGION_IN_ORDER})
PASSAGE(region, enter, region_run(my, at, RULES))
PASSAGE(region, leave, region_withdraw(my, at, RULES))
DEAD(region_outside)
#endif

#ifdef SHIPS_FORKS
#include "protocols/registers/forks.h"
/* What is remembered outlives the passage. */
#define REMEMBERED(name, call)                                                                     \
    enum passage_result ships_##name(struct registers *at, struct fork_memory *memory)             \
    {                                                                                              \
        struct forks_passage passage = {.memory = *memory}, *my = &passage;                        \
        const enum passage_result result = call;                                                   \
        *memory = passage.memory;                                                                  \
        return result;                                                                             \
    }
REMEMBERED(enter, forks_enter(my, at))
REMEMBERED(leave, forks_leave(my, at))
#endif

#ifdef SHIPS_COURTESY
#include "protocols/registers/courtesy/courtesy.h"
/* Nothing is known of the struct but what is set before it enters, or upgrades. */
#define UNSET(name, set, call)                                                                     \
    enum passage_result ships_##name(struct registers *at, unsigned any, bool *refused)            \
    {                                                                                              \
        struct courtesy_passage passage, *my = &passage;                                           \
        __asm__ volatile("" : "=m"(passage));                                                      \
        set;                                                                                       \
        const enum passage_result result = call;                                                   \
        *refused = any && my->conversion.refused;                                                  \
        return result;                                                                             \
    }
UNSET(enter, courtesy_begin(my), courtesy_enter(my, at))
UNSET(leave, (void)0, courtesy_leave(my, at))
UNSET(hold, (void)0, courtesy_hold(my, at))
UNSET(give_back, (void)0, courtesy_give_back(my, at))
UNSET(downgrade, (void)0, courtesy_downgrade(my, at, any))
UNSET(upgrade, courtesy_begin_upgrade(my),
      courtesy_upgrade(my, at, any, (struct courtesy_without){0}))
UNSET(keep_mode, (void)0, courtesy_keep_mode(my, at))
DEAD(courtesy_dead)
bool ships_is_half_used(word w)
{
    return courtesy_is_half_used(w);
}
#endif
