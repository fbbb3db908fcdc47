/* SPDX-License-Identifier: MIT */
/* `bakery` of src/protocols/registers/bakery.h for SPIN: exclusive mode, N places, deaths after any step.
 *
 * The same steps as `afteryou check bakery --modes exclusive --passages PASSAGES`: one access to a public word and all
 * private work up to the next access are one indivisible step; beginning makes the first access; a process that dies
 * leaves its word idle, one incarnation on, with its number, and loses all it knew; each place begins PASSAGES passages
 * at most, deaths or not.
 */
#ifndef N
#define N 3
#endif
#ifndef PASSAGES
#define PASSAGES 2
#endif

#define IDLE     0
#define CHOOSING 1
#define QUEUED   2

/* Where a process stops: before which access. */
#define OUTSIDE 0
#define MAXIMUM 1
#define NUMBER  2
#define LOOK    3
#define CHOSEN  4
#define TURN    5
#define INSIDE  6

byte state[N];       /* the public word, in three pieces that are always accessed together */
byte incarnation[N];
byte number[N];
byte inside;         /* how many are: for the assertion alone */

/* A doorway other than the one first seen, or none. */
#define chosen(s, c, n) ((s) != CHOOSING || (c) != first_incarnation || (n) != first_number)
/* My turn comes before j's. */
#define first(s, c, n)                                                                                                 \
    ((s) != QUEUED || (c) != first_incarnation || number[i] < (n) || (number[i] == (n) && i < j))

inline next_place()
{
    j++;
    if
    :: j == i -> j++
    :: else
    fi
}

inline forget_first()
{
    first_incarnation = 0;
    first_number = 0;
    first_state = IDLE
}

/* j is no hindrance: on to the next place, or inside. */
inline pass()
{
    forget_first();
    next_place();
    if
    :: j >= N ->
        j = 0;
        point = INSIDE;
        assert(inside == 0);
        inside++
    :: else ->
        point = LOOK
    fi
}

proctype place(byte i)
{
    byte point, j, begun, largest;
    byte first_state, first_incarnation, first_number;
    do
    :: d_step { point == OUTSIDE && begun < PASSAGES ->
        begun++;
        largest = number[i];
        state[i] = CHOOSING;
        j = (i == 0 -> 1 : 0);
        point = MAXIMUM }
    :: d_step { point == MAXIMUM ->
        if
        :: number[j] > largest -> largest = number[j]
        :: else
        fi;
        next_place();
        if
        :: j >= N -> j = 0; point = NUMBER
        :: else
        fi }
    :: d_step { point == NUMBER ->
        state[i] = QUEUED;
        number[i] = largest + 1;
        largest = 0;
        j = (i == 0 -> 1 : 0);
        point = LOOK }
    :: d_step { point == LOOK ->
        first_state = state[j];
        first_incarnation = incarnation[j];
        first_number = number[j];
        if
        :: first_state == CHOOSING -> point = CHOSEN
        :: first_state != CHOOSING && !first(first_state, first_incarnation, first_number) -> point = TURN
        :: else -> pass()
        fi }
    :: d_step { point == CHOSEN && chosen(state[j], incarnation[j], number[j]) ->
        if
        :: !first(state[j], incarnation[j], number[j]) -> point = TURN
        :: else -> pass()
        fi }
    :: d_step { point == TURN && first(state[j], incarnation[j], number[j]) ->
        pass() }
    :: d_step { point == INSIDE ->
        inside--;
        state[i] = IDLE;
        point = OUTSIDE }
    :: d_step { point != OUTSIDE -> /* dies */
        if
        :: point == INSIDE -> inside--
        :: else
        fi;
        state[i] = IDLE;
        incarnation[i] = (incarnation[i] + 1) & 7;
        largest = 0;
        j = 0;
        forget_first();
        point = OUTSIDE }
    od
}

init
{
    atomic {
        byte who;
        for (who : 0 .. N - 1) {
            run place(who)
        }
        who = 0
    }
}
