/* SPDX-License-Identifier: MIT */
/* Naming: which resource a place is for, and who therefore looks at whom.
 *
 * Beside its word a place has a life, which changes whenever its owner or its name does; a name;
 * and a tag, some bits of that name, by which it is found among thousands. Those whose names are
 * alike share two counts: `claims`, which grows when somebody has come to the name, and `floor`,
 * the greatest number that was left behind by who has gone to another. Each process knows of the
 * others what it saw when it met them, and gathers its rivals; as long as `claims` stays the same
 * it looks at nobody else.
 *
 *   N1  What a place says of itself counts if its life was the same before and after. So does its
 *       word, if its life is still the one that is known once the word was fetched: it was all the
 *       time between, for no life comes twice.
 *   N2  Who comes to a name has stored life, name and tag before it counts itself, and has counted
 *       itself before its first step there. So who finds `claims` as it was before it gathered has
 *       gathered all that have begun; one that is missing has yet to look, and will find what was
 *       stored before this look.
 *   N3  Who goes from a name leaves its number in the name's `floor` before its tag changes. So who
 *       looks at the tags, and then at the floor, knows the greatest number that was drawn for the
 *       name: by who has its tag, or had it.
 *
 * The checker searches this text. The memory engine does the same in words of its own, which are
 * about thousands of places, pulses and deaths to tell of as well: memory/file/claim.c,
 * memory/passage/rivals.c and region.h. tests/schedule leaves the same parts out there.
 *
 * An engine defines, before it includes this,
 *   struct naming_sight                            what is seen of a place while it is met
 *   void naming_see(at, j, &sight)                 its life, as it is now
 *   bool naming_is_nobody(&sight)                  nobody was ever there
 *   bool naming_is_new(at, j, &sight)              it is another life than the one that is known
 *   void naming_acquaint(at, j, &sight)            its name
 *   void naming_number(at, j, &sight)              its number, should it be none of mine any more
 *   bool naming_see_again(at, j, &sight)           whether its life is as it was seen
 *   void naming_meets(at, j, &sight)               from now on it is known so
 *   bool naming_knows(at, j)                       whether it was ever met
 *   bool naming_stands(at, j)                      whether its life is as it is known
 *   word naming_word(at, j)                        its word
 *   void naming_note_claims(at)                    `claims` of my name, as it is now
 *   bool naming_none_came(at)                      whether that is what it was when all were
 *                                                  gathered last
 *   unsigned naming_next_gathered(at, place)       the next of those, from `place` on
 *   bool naming_stays(at, j)                       whether it is to be gathered again
 *   void naming_gather_nobody(at)                  forgets them
 *   unsigned naming_next(at, place)                the next place in use, mine left out
 *   bool naming_tagged(at, j)                      whether it has my tag
 *   void naming_forget(at, j)                      what is known of it was judged by another name
 *   void naming_gather_one(at, j)                  adds it, if it is a rival
 *   void naming_floor(at)                          the `floor` of my name
 *   void naming_has_gathered(at)                   all are gathered, as of the `claims` noted
 * and for who changes its own name
 *   void naming_give_up(at)                        stores a life that is nobody's
 *   void naming_leave_number(at)                   raises the `floor` of the name it had
 *   void naming_store_name(at), naming_store_tag(at)
 *   void naming_come_alive(at)                     stores a life that never was
 *   bool naming_is_admitted(at)                    the others of that name agree
 *   void naming_count(at)                          adds one to `claims` of the name
 */
#ifndef AFTERYOU_PROTOCOLS_REGISTERS_NAMING_H
#define AFTERYOU_PROTOCOLS_REGISTERS_NAMING_H

#include "protocols/registers/naming_parts.h"

/* Sees who is there now (N1). */
static inline enum passage_result naming_meet(struct naming_meeting *my, struct registers *at,
                                              unsigned j)
{
    PASSAGE_BEGIN
    my->same = 0;
    while (!my->same) {
        ACT(life, naming_see(at, j, &my->sight));
        if (naming_is_nobody(&my->sight))
            break;
        if (naming_is_new(at, j, &my->sight))
            ACT(name, naming_acquaint(at, j, &my->sight));
        ACT(number, naming_number(at, j, &my->sight));
        ACT(life_again, my->same = naming_see_again(at, j, &my->sight));
    }
    my->same = 0;
    if (!naming_is_nobody(&my->sight))
        naming_meets(at, j, &my->sight);
    PASSAGE_END
}

/* The word of a place; afterwards it is known whose it was. */
static inline enum passage_result naming_read(struct naming_reading *my, struct registers *at,
                                              unsigned j, struct naming_without without)
{
    PASSAGE_BEGIN
    my->stands = 0;
    for (;;) {
        if (naming_knows(at, j)) {
            if (without.behind)
                ACT(stands, my->stands = naming_stands(at, j));
            ACT(word, my->w = naming_word(at, j));
            if (!without.behind)
                ACT(stands, my->stands = naming_stands(at, j));
            if (my->stands)
                break;
            my->w = 0;
        }
        CALL(naming_meet, &my->meeting, at, j);
        if (!naming_knows(at, j))
            break;
    }
    PASSAGE_END
}

/* Those who were gathered last time: whoever has changed is met anew, though its tag be another's
 * by now, for a passage may watch it. `same`: all are to be gathered again. */
static inline enum passage_result naming_gather_again(struct naming_gathering *my,
                                                      struct registers *at)
{
    PASSAGE_BEGIN
    my->same = 1;
    for (my->j = (place_number)naming_next_gathered(at, 0); my->j < registers_places(at);
         my->j = (place_number)naming_next_gathered(at, my->j + 1u)) {
        ACT(stays, my->holds = naming_stands(at, my->j));
        if (!my->holds)
            CALL(naming_meet, &my->meeting, at, my->j);
        my->same = my->same && naming_stays(at, my->j);
    }
    my->j = 0;
    my->holds = 0;
    PASSAGE_END
}

/* Everybody whose tag is mine; and then the floor (N3). `anew`: what is known of them was judged by
 * another name. */
static inline enum passage_result naming_gather_all(struct naming_gathering *my,
                                                    struct registers *at, bool anew,
                                                    struct naming_without without)
{
    PASSAGE_BEGIN
    naming_gather_nobody(at);
    if (without.below)
        ACT(floor, naming_floor(at));
    for (my->j = (place_number)naming_next(at, 0); my->j < registers_places(at);
         my->j = (place_number)naming_next(at, my->j + 1u)) {
        ACT(tag, my->holds = naming_tagged(at, my->j));
        if (!my->holds)
            continue;
        my->holds = 0;
        if (anew)
            naming_forget(at, my->j);
        else
            ACT(stands, my->holds = naming_stands(at, my->j));
        if (!my->holds)
            CALL(naming_meet, &my->meeting, at, my->j);
        if (naming_knows(at, my->j))
            naming_gather_one(at, my->j);
    }
    my->j = 0;
    my->holds = 0;
    if (!without.below)
        ACT(floor, naming_floor(at));
    PASSAGE_END
}

/* If `claims` has changed, somebody has come, and may have gone again. */
static inline enum passage_result naming_gather(struct naming_gather *my, struct registers *at,
                                                bool anew, struct naming_without without)
{
    PASSAGE_BEGIN
    if (!without.before)
        ACT(claims, naming_note_claims(at));
    my->same = !anew && naming_none_came(at);
    if (!anew)
        CALL(naming_gather_again, &my->part, at);
    my->same = my->same && my->part.same;
    my->part.same = 0;
    if (!my->same)
        CALL(naming_gather_all, &my->part, at, anew, without);
    my->same = 0;
    if (without.before)
        ACT(claims, naming_note_claims(at));
    naming_has_gathered(at);
    PASSAGE_END
}

static inline enum passage_result naming_rename(struct naming_renaming *my, struct registers *at,
                                                struct naming_without without)
{
    PASSAGE_BEGIN
    if (!without.life)
        ACT(give_up, naming_give_up(at));
    if (!without.number)
        ACT(leave_number, naming_leave_number(at));
    ACT(store_name, naming_store_name(at));
    if (!without.tag)
        ACT(store_tag, naming_store_tag(at));
    if (!without.life)
        ACT(come_alive, naming_come_alive(at));
    if (naming_is_admitted(at) && !without.count)
        ACT(count, naming_count(at));
    if (without.tag)
        ACT(store_tag, naming_store_tag(at));
    PASSAGE_END
}

#endif
