/* SPDX-License-Identifier: MIT */
/* In place of memory/passage/spin.c: nobody waits awake. How long one would is a question of time,
 * which does not pass here; and a spin that ends sees what the look before the sleep sees. */
#include "memory/passage/region.h"

bool ay__spin(struct registers *at, struct watch *watch)
{
    (void)at;
    (void)watch;
    return false;
}

/* So the one behind is woken ahead. */
bool ay__spins(const struct registers *at)
{
    (void)at;
    return true;
}

void ay__spin_missed(struct registers *at)
{
    (void)at;
}

void ay__hold_back(struct registers *at)
{
    at->habits.contended = false;
}
