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

/* All of them, in the order in which they are listed: the shipped ones first. */
#define REGISTER_MODELS(MODEL)                                                                     \
    MODEL(pair)                                                                                    \
    MODEL(races)                                                                                   \
    MODEL(clock)                                                                                   \
    MODEL(bakery)                                                                                  \
    MODEL(region)                                                                                  \
    MODEL(network)                                                                                 \
    MODEL(forks)                                                                                   \
    MODEL(courtesy)                                                                                \
    MODEL(courtesy_units)                                                                          \
    MODEL(courtesy_brief)                                                                          \
    MODEL(races_copies)                                                                            \
    MODEL(bakery_words)                                                                            \
    MODEL(bakery_bounded)                                                                          \
    MODEL(bakery_torn)                                                                             \
    MODEL(bakery_safe)                                                                             \
    MODEL(bakery_repairing)                                                                        \
    MODEL(network_parallel)                                                                        \
    MODEL(firmware_bakery)                                                                         \
    MODEL(fork)                                                                                    \
    MODEL(fork_claim_2)                                                                            \
    MODEL(forks_oracle)                                                                            \
    MODEL(forks_static)                                                                            \
    MODEL(forks_ids)                                                                               \
    MODEL(pair_once)                                                                               \
    MODEL(pair_once_shy)                                                                           \
    MODEL(races_printed)                                                                           \
    MODEL(races_copies_forgetful)                                                                  \
    MODEL(clock_unpadded)                                                                          \
    MODEL(clock_without_step_1)                                                                    \
    MODEL(clock_without_step_2)                                                                    \
    MODEL(clock_without_step_3)                                                                    \
    MODEL(clock_without_step_5)                                                                    \
    MODEL(clock_without_regard)                                                                    \
    MODEL(clock_without_ok)                                                                        \
    MODEL(clock_without_keep)                                                                      \
    MODEL(clock_without_maximum)                                                                   \
    MODEL(bakery_without_choosing)                                                                 \
    MODEL(bakery_without_incarnation)                                                              \
    MODEL(bakery_without_sharing)                                                                  \
    MODEL(bakery_torn_read)                                                                        \
    MODEL(bakery_torn_write)                                                                       \
    MODEL(bakery_torn_forgotten)                                                                   \
    MODEL(bakery_circle_3)                                                                         \
    MODEL(bakery_circle_5)                                                                         \
    MODEL(bakery_circle_7)                                                                         \
    MODEL(bakery_circle_9)                                                                         \
    MODEL(bakery_split_mode)                                                                       \
    MODEL(bakery_fragile)                                                                          \
    MODEL(bakery_recovering)                                                                       \
    MODEL(bakery_relapsing)                                                                        \
    MODEL(bakery_safe_hasty)                                                                       \
    MODEL(firmware_bakery_unfenced)                                                                \
    MODEL(region_printed)                                                                          \
    MODEL(region_without_pair)                                                                     \
    MODEL(region_stale_mode)                                                                       \
    MODEL(region_keep_precede)                                                                     \
    MODEL(region_in_order)                                                                         \
    MODEL(network_undeferred)                                                                      \
    MODEL(network_no_urgent)                                                                       \
    MODEL(network_silent)                                                                          \
    MODEL(network_late_reset)                                                                      \
    MODEL(network_hasty)                                                                           \
    MODEL(network_parallel_late_reset)                                                             \
    MODEL(forks_printed)                                                                           \
    MODEL(forks_redirect_idle)                                                                     \
    MODEL(forks_read_twice)                                                                        \
    MODEL(forks_forgetful)                                                                         \
    MODEL(forks_forget_at_leave)                                                                   \
    MODEL(forks_swapped)                                                                           \
    MODEL(forks_without_range)                                                                     \
    MODEL(fork_forgetful)                                                                          \
    MODEL(fork_swapped)                                                                            \
    MODEL(fork_one_copy)                                                                           \
    MODEL(fork_claim_2_greedy)                                                                     \
    MODEL(forks_oracle_hasty)                                                                      \
    MODEL(forks_ids_meek)                                                                          \
    MODEL(courtesy_brief_without_quiet)                                                            \
    MODEL(courtesy_without_look)                                                                   \
    MODEL(courtesy_without_choosing)                                                               \
    MODEL(courtesy_without_incarnation)                                                            \
    MODEL(courtesy_without_step_back)                                                              \
    MODEL(courtesy_without_withdrawal)                                                             \
    MODEL(courtesy_without_bound)                                                                  \
    MODEL(courtesy_without_raise)                                                                  \
    MODEL(courtesy_units_without_sights)                                                           \
    MODEL(courtesy_without_sweep)                                                                  \
    MODEL(courtesy_without_heed)                                                                   \
    MODEL(courtesy_without_later)                                                                  \
    MODEL(courtesy_without_recount)                                                                \
    MODEL(courtesy_without_patience)                                                               \
    MODEL(courtesy_without_rouse)                                                                  \
    MODEL(courtesy_without_slots)                                                                  \
    MODEL(courtesy_without_rousing)                                                                \
    MODEL(courtesy_without_precedence)                                                             \
    MODEL(courtesy_units_without_listening)                                                        \
    MODEL(courtesy_retain)                                                                         \
    MODEL(courtesy_retain_brief)                                                                   \
    MODEL(courtesy_retain_without_recall)                                                          \
    MODEL(courtesy_retain_without_barrier)                                                         \
    MODEL(courtesy_retain_without_retained)                                                        \
    MODEL(courtesy_convert_without_store)                                                          \
    MODEL(courtesy_convert_without_express)                                                        \
    MODEL(courtesy_convert_without_stronger)                                                       \
    MODEL(courtesy_convert_without_refusal)                                                        \
    MODEL(courtesy_convert_without_call)                                                           \
    MODEL(courtesy_convert_without_way)                                                            \
    MODEL(courtesy_convert_without_turn)                                                           \
    MODEL(courtesy_rename_without_behind)                                                          \
    MODEL(courtesy_rename_without_before)                                                          \
    MODEL(courtesy_rename_without_below)                                                           \
    MODEL(courtesy_rename_without_life)                                                            \
    MODEL(courtesy_rename_without_number)                                                          \
    MODEL(courtesy_rename_without_tag)                                                             \
    MODEL(courtesy_rename_without_count)                                                           \
    MODEL(courtesy_rename_without_anew)                                                            \
    MODEL(courtesy_asks)                                                                           \
    MODEL(courtesy_asks_linking_late)                                                              \
    MODEL(courtesy_asks_draining_late)                                                             \
    MODEL(courtesy_asks_hinted)                                                                    \
    MODEL(courtesy_asks_hints_alone)

#define MODEL(name) extern const struct register_protocol model_##name;
REGISTER_MODELS(MODEL)
#undef MODEL

#endif
