/* SPDX-License-Identifier: MIT */
/* Every protocol that the checker knows, the shipped ones and the broken ones it must refute. */
#ifndef AFTERYOU_CHECK_REGISTERS_MODELS_MODELS_H
#define AFTERYOU_CHECK_REGISTERS_MODELS_MODELS_H

#include "check/registers/register_model.h"
#include "check/search/verdict.h"

/* No lockout, also while others die and return: Rivest and Pratt's ultrareliability. */
#define PROMISES_FAIR (1u << PROPERTY_LOCKOUT | 1u << PROPERTY_RELIABILITY)

/* Adapts a passage of a protocol to the model's type: my is the protocol's own struct. */
#define MODEL_PASSAGE(function, protocol, call)                                                    \
    static enum passage_result function(void *passage, struct registers *at)                       \
    {                                                                                              \
        struct protocol##_passage *my = passage;                                                   \
        return call;                                                                               \
    }

extern const struct register_protocol model_pair;
extern const struct register_protocol model_races, model_races_printed;
extern const struct register_protocol model_clock, model_clock_unpadded, model_clock_without_step_1,
    model_clock_without_step_3, model_clock_without_ok, model_clock_without_keep,
    model_clock_without_maximum;
extern const struct register_protocol model_region, model_region_printed, model_region_without_pair,
    model_region_stale_mode, model_region_keep_precede, model_region_in_order;
extern const struct register_protocol model_forks, model_forks_printed, model_forks_redirect_idle,
    model_forks_read_twice, model_forks_forgetful, model_forks_swapped, model_forks_without_range,
    model_forks_forget_at_leave;

extern const struct register_protocol model_bakery, model_bakery_without_choosing,
    model_bakery_without_incarnation;
extern const struct register_protocol model_bakery_words, model_bakery_bounded, model_bakery_torn,
    model_bakery_torn_read, model_bakery_torn_write, model_bakery_torn_forgotten;
extern const struct register_protocol model_courtesy, model_courtesy_units,
    model_courtesy_without_look, model_courtesy_without_choosing,
    model_courtesy_without_incarnation, model_courtesy_without_step_back,
    model_courtesy_without_withdrawal, model_courtesy_without_bound, model_courtesy_without_raise,
    model_courtesy_units_without_sights, model_courtesy_without_sweep, model_courtesy_without_heed,
    model_courtesy_without_doorway, model_courtesy_without_recount, model_courtesy_without_renewal,
    model_courtesy_without_patience, model_courtesy_without_rouse, model_courtesy_retain,
    model_courtesy_retain_without_recall, model_courtesy_retain_without_barrier,
    model_courtesy_retain_without_retained;

extern const struct register_protocol model_network, model_network_undeferred,
    model_network_no_urgent, model_network_silent, model_network_late_reset, model_network_hasty;

#endif
