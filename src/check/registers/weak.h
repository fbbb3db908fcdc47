/* SPDX-License-Identifier: MIT */
/* Registers in the memory of C11: a store is a message, which others may come to see late, and in
 * another order than its neighbours.
 *
 * A register has one writer, so the order of its values is its owner's program order: a list of
 * messages, each a value and the view of its writer when it was stored. A view says of each
 * register from which message on it may be read. A thread has a view; one more is everybody's.
 *   a fetch (acquire)  takes any message from the thread's view on, and joins that message's view
 *   a store (release)  adds a message with the thread's whole view
 *   a fence (seq_cst)  joins the thread's view and everybody's, both ways
 *   a death            a store by the kernel into every register, with the dead one's whole view,
 *                      and a fence
 * A relaxed fetch joins the message's view at the next fence only; a relaxed store carries what the
 * thread had seen at its last fence. A death that is relaxed carries nothing.
 *
 * A view also says whose passages it comes after: for each process a bit for its exclusive and one
 * for its shared passages, set as long as all that it made inside so far are known. Who enters must
 * know all that conflict: what was done inside and what will be done there are then ordered
 * (happens-before), and else are a race.
 *
 * So that there are few states, views are raised as far as nobody can tell the difference, what no
 * view reaches any more is dropped, and messages are counted anew: weak_normalise().
 */
#ifndef AFTERYOU_CHECK_REGISTERS_WEAK_H
#define AFTERYOU_CHECK_REGISTERS_WEAK_H

#include "check/registers/register_model.h"

/* Where a place keeps its thread's views, everybody's (process 0 alone) and its registers'
 * messages. */
void weak_lay_out(struct register_model *model);
void weak_begin(const struct register_model *model, unsigned char *state);
void weak_normalise(const struct register_model *model, unsigned char *state);

/* With this move the process is inside. NULL, or "race": it does not know all that was done there
 * before. */
const char *weak_enter(struct registers *at);
/* After the dead one's words were changed. */
void weak_die(struct registers *at);
/* Whether there is something that the process may still fail to see; and that it sees it from now
 * on. */
bool weak_is_behind(const struct register_model *model, const unsigned char *state, unsigned who);
void weak_catch_up(struct registers *at);
/* SLEEP: after a full barrier the kernel compares. Whether a watched word differs from what was
 * seen. */
bool weak_differs(struct registers *at, const struct watch *watch);

/* How many messages there are of a register, and the value of one, for people. */
unsigned weak_count(const struct register_model *model, const unsigned char *state,
                    unsigned process, unsigned index);
word weak_value(const struct register_model *model, const unsigned char *state, unsigned process,
                unsigned index, unsigned message);

#endif
