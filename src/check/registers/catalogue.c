/* SPDX-License-Identifier: MIT */
/* Every register protocol that the checker knows: the shipped ones, and the broken ones that it
 * must refute. */
#include "check/registers/catalogue.h"

#include <string.h>

#include "check/registers/models/models.h"

const struct register_protocol *const register_protocols[] = {
    &model_pair,
    &model_races,
    &model_clock,
    &model_bakery,
    &model_region,
    &model_network,
    &model_forks,
    &model_courtesy,
    &model_courtesy_units,
    &model_bakery_words,
    &model_bakery_bounded,
    &model_bakery_torn,
    &model_races_printed,
    &model_clock_unpadded,
    &model_clock_without_step_1,
    &model_clock_without_step_3,
    &model_clock_without_ok,
    &model_clock_without_keep,
    &model_clock_without_maximum,
    &model_bakery_without_choosing,
    &model_bakery_without_incarnation,
    &model_bakery_torn_read,
    &model_bakery_torn_write,
    &model_bakery_torn_forgotten,
    &model_region_printed,
    &model_region_without_pair,
    &model_region_stale_mode,
    &model_region_keep_precede,
    &model_region_in_order,
    &model_network_undeferred,
    &model_network_no_urgent,
    &model_network_silent,
    &model_network_late_reset,
    &model_network_hasty,
    &model_forks_printed,
    &model_forks_redirect_idle,
    &model_forks_read_twice,
    &model_forks_forgetful,
    &model_forks_forget_at_leave,
    &model_forks_swapped,
    &model_forks_without_range,
    &model_courtesy_without_look,
    &model_courtesy_without_choosing,
    &model_courtesy_without_incarnation,
    &model_courtesy_without_step_back,
    &model_courtesy_without_withdrawal,
    &model_courtesy_without_bound,
    &model_courtesy_without_raise,
    &model_courtesy_units_without_sights,
    &model_courtesy_without_sweep,
    &model_courtesy_without_heed,
    &model_courtesy_without_doorway,
    &model_courtesy_without_recount,
    &model_courtesy_without_renewal,
    &model_courtesy_without_patience,
    &model_courtesy_without_rouse,
    &model_courtesy_retain,
    &model_courtesy_retain_without_recall,
    &model_courtesy_retain_without_barrier,
    &model_courtesy_retain_without_retained,
    NULL,
};

const struct register_protocol *register_protocol_find(const char *name)
{
    for (size_t at = 0; register_protocols[at]; at++)
        if (strcmp(register_protocols[at]->name, name) == 0)
            return register_protocols[at];
    return NULL;
}
