/* SPDX-License-Identifier: MIT */
/* Words of `afteryou check` that name places: which are used, who stopped, who is whose rival. */
#include <string.h>

#include "cli/check/check.h"
#include "cli/commands.h"
#include "cli/text.h"

/* "0,2,5" as bits. */
int check_take_places(const struct option_word *given)
{
    struct register_model *model = &((struct check_words *)given->asked)->model;
    char *rest = given->value, *item;
    model->alive = 0;
    while ((item = strsep(&rest, ","))) {
        uint64_t place;
        if (!parse_number(item, 0, PROCESSES_MOST - 1, &place))
            return OPTION_REFUSED;
        model->alive |= 1u << place;
    }
    return OPTION_TAKEN;
}

int check_take_victim(const struct option_word *given)
{
    struct check_words *asked = given->asked;
    uint64_t place;
    if (!parse_number(given->value, 0, PROCESSES_MOST - 1, &place))
        return OPTION_REFUSED;
    asked->victim = 1u << place;
    return OPTION_TAKEN;
}

/* "1:853,2:0": places, and the ways in which their processes stopped. */
int check_take_stopped(const struct option_word *given)
{
    struct register_model *model = &((struct check_words *)given->asked)->model;
    char *rest = given->value, *item;
    while ((item = strsep(&rest, ","))) {
        char *how = item;
        const char *name = strsep(&how, ":");
        uint64_t place;
        if (!how || !parse_number(name, 0, PROCESSES_MOST - 1, &place) ||
            !parse_number(how, 0, UINT64_MAX, &model->stopped_how[place]))
            return OPTION_REFUSED;
        model->stopped |= 1u << place;
    }
    return OPTION_TAKEN;
}

/* "0-1,1-2": who can conflict with whom. */
int check_take_rivals(const struct option_word *given)
{
    struct register_model *model = &((struct check_words *)given->asked)->model;
    char *rest = given->value, *item;
    model->some_rivals = true;
    while ((item = strsep(&rest, ","))) {
        char *other = item;
        const char *name = strsep(&other, "-");
        uint64_t i, j;
        if (!other || !parse_number(name, 0, PROCESSES_MOST - 1, &i) ||
            !parse_number(other, 0, PROCESSES_MOST - 1, &j) || i == j)
            return OPTION_REFUSED;
        model->rivals[i] = (uint8_t)(model->rivals[i] | 1u << j);
        model->rivals[j] = (uint8_t)(model->rivals[j] | 1u << i);
    }
    return OPTION_TAKEN;
}
