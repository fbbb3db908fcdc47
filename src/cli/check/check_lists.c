/* SPDX-License-Identifier: MIT */
/* The lists of `afteryou check`: of protocols; and words that are lists, of places, of labels. */
#include "cli/check/check_lists.h"

#include <stdio.h>
#include <string.h>

#include "cli/check/check.h"
#include "cli/commands.h"
#include "cli/text.h"

int check_print_list(void)
{
    for (size_t at = 0; register_protocols[at]; at++) {
        const struct register_protocol *protocol = register_protocols[at];
        printf("%-28s %s%s%s\n", protocol->name, protocol->summary,
               protocol->refutes ? "; refuted: " : "", protocol->refutes ? protocol->refutes : "");
    }
    for (unsigned i = 0; variant_at(i); i++)
        printf("%-38s %s%s\n", variant_at(i)->name,
               variant_at(i)->left_out        ? "refuted: without "
               : variant_ships(variant_at(i)) ? "messages"
                                              : "messages, of the papers",
               variant_at(i)->left_out ? variant_at(i)->left_out : "");
    for (unsigned i = 0; link_variant_at(i); i++)
        printf("%-38s %s%s\n", link_variant_at(i)->name,
               link_variant_at(i)->left_out  ? "refuted: without "
               : link_variant_at(i)->without ? "what carries messages, slower"
                                             : "what carries messages",
               link_variant_at(i)->left_out ? link_variant_at(i)->left_out : "");
    return OPTION_DONE;
}

/* Those of registers, then those of messages, then links. */
const char *check_protocol_at(size_t at)
{
    size_t registers = 0;
    unsigned messages = 0;
    while (register_protocols[registers])
        registers++;
    if (at < registers)
        return register_protocols[at]->name;
    while (variant_at(messages))
        messages++;
    at -= registers;
    if (at < messages)
        return variant_at((unsigned)at)->name;
    const struct link_variant *link = link_variant_at((unsigned)at - messages);
    return link ? link->name : NULL;
}

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

/* "choosing,death": labels of the protocol's text. */
static int take_weakened(const struct option_word *given, bool relaxed)
{
    struct check_words *asked = given->asked;
    char *rest = given->value, *label;
    while ((label = strsep(&rest, ","))) {
        if (!*label || strlen(label) >= LABEL_ROOM || asked->model.weakened_count == WEAKENED_MOST)
            return OPTION_REFUSED;
        struct weakening *weakening = &asked->weakened[asked->model.weakened_count++];
        *weakening = (struct weakening){.relaxed = relaxed};
        strcpy(weakening->label, label);
    }
    return OPTION_TAKEN;
}

int check_take_unfenced(const struct option_word *given)
{
    return take_weakened(given, false);
}

int check_take_relaxed(const struct option_word *given)
{
    return take_weakened(given, true);
}

const char *check_errors_at(size_t at)
{
    static const char *const names[] = {
        [ERRORS_NONE] = "none", [ERRORS_WAITING] = "waiting", [ERRORS_ANYWHERE] = "anywhere"};
    return at < sizeof names / sizeof *names ? names[at] : NULL;
}

const char *check_timeouts_at(size_t at)
{
    static const char *const names[] = {
        [TIMEOUTS_NONE] = "none", [TIMEOUTS_RIGHT] = "right", [TIMEOUTS_WRONG] = "wrong"};
    return at < sizeof names / sizeof *names ? names[at] : NULL;
}

const char *check_precedence_at(size_t at)
{
    static const char *const names[] = {[CHECK_IN_ORDER] = "in-order",
                                        [CHECK_WRITERS_FIRST] = "writers-first",
                                        [CHECK_PRIORITY] = "priority"};
    return at < sizeof names / sizeof *names ? names[at] : NULL;
}

const char *check_memory_model_at(size_t at)
{
    static const char *const names[] = {
        [CHECK_SC] = "sc", [CHECK_TSO] = "tso", [CHECK_C11] = "c11"};
    return at < sizeof names / sizeof *names ? names[at] : NULL;
}

const char *check_network_at(size_t at)
{
    return at <= CHANNELS_AGREED ? check_network((enum channels)at) : NULL;
}

/* Those of both kinds of protocols, then those of message protocols alone. */
const char *check_property_at(size_t at)
{
    return at < PROPERTY_COUNT ? property_name((enum property)at)
                               : messages_property_name((unsigned)(at - CHECK_MESSAGES_PROPERTIES));
}
