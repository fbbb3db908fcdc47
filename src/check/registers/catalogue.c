/* SPDX-License-Identifier: MIT */
/* Every register protocol that the checker knows: the shipped ones, and the broken ones that it
 * must refute. */
#include "check/registers/catalogue.h"

#include <string.h>

#include "check/registers/models/models.h"

#define MODEL(name) &model_##name,
const struct register_protocol *const register_protocols[] = {REGISTER_MODELS(MODEL) NULL};
#undef MODEL

const struct register_protocol *register_protocol_find(const char *name)
{
    for (size_t at = 0; register_protocols[at]; at++)
        if (strcmp(register_protocols[at]->name, name) == 0)
            return register_protocols[at];
    return NULL;
}
