/* SPDX-License-Identifier: MIT */
/* The bakery lock of a firmware, with and without the barriers that it lacked once. */
#include <stdio.h>

#include "check/papers/firmware.h"
#include "check/registers/models/models.h"

MODEL_PASSAGE(get, firmware, firmware_get(my, at, true))
MODEL_PASSAGE(release, firmware, firmware_release(my, at, true))
MODEL_PASSAGE(get_unfenced, firmware, firmware_get(my, at, false))
MODEL_PASSAGE(release_unfenced, firmware, firmware_release(my, at, false))

static void write_value(unsigned index, word value, char *text, size_t room)
{
    (void)index;
    if (value & FIRMWARE_CHOOSING)
        snprintf(text, room, "choosing");
    else
        snprintf(text, room, "%u", firmware_ticket(value));
}

#define FIRMWARE_MODEL(identifier, title, text, gets, releases, found)                             \
    const struct register_protocol identifier = {                                                  \
        .name = title,                                                                             \
        .summary = text,                                                                           \
        .places_least = 2,                                                                         \
        .places_most = PROCESSES_MOST,                                                             \
        .passage_size = sizeof(struct firmware_passage),                                           \
        .enter = gets,                                                                             \
        .leave = releases,                                                                         \
        .write_value = write_value,                                                                \
        .default_places = 2,                                                                       \
        .device = true,                                                                            \
        .refutes = found,                                                                          \
    };

FIRMWARE_MODEL(model_firmware_bakery, "firmware-bakery",
               "ARM Trusted Firmware's bakery lock, in device memory (c11)", get, release, NULL)
FIRMWARE_MODEL(model_firmware_bakery_unfenced, "firmware-bakery-unfenced",
               "the same until 2018: no barriers around the critical section (c11)", get_unfenced,
               release_unfenced, "exclusion")
