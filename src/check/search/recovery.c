/* SPDX-License-Identifier: MIT */
/* Whether the system recovers: after the last error, and without another, exclusion is broken
 * finitely often.
 *
 * It asks for a weakly fair cycle of moves that are no errors, no deaths and no giving up, with a
 * state on it in which exclusion is broken.
 */
#include "check/search/analyses.h"

static int judge_component(struct search *search, const struct component *component, void *context)
{
    unsigned char bytes[STATE_SIZE_MOST] __attribute__((aligned(8)));
    if (!starvation_is_fair(search, component))
        return 0;
    for (uint32_t member = 0; member < component->count; member++) {
        store_get(&search->store, component->members[member], bytes);
        if (!search->system->legitimate(search->system, bytes))
            return starvation_draw(search, component, component->members[member], context);
    }
    return 0;
}

int recovery_find_relapse(struct search *search, const struct statuses *statuses, struct way *cycle)
{
    const struct walk walk = {.statuses = ~0u,
                              .kinds = 1u << MOVE_STEP | 1u << MOVE_START | 1u << MOVE_SYSTEM};
    return components_visit(search, statuses, &walk, judge_component, cycle);
}
