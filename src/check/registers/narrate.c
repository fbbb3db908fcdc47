/* SPDX-License-Identifier: MIT */
/* A move of a register protocol, made and told in words. */
#include "check/registers/narrate.h"

#include <stdio.h>
#include <string.h>

#include "check/registers/weak.h"

void register_model_name(const struct register_model *model, unsigned place, unsigned index,
                         char *text, size_t room)
{
    if (model->protocol->name_register)
        model->protocol->name_register(model->places, place, index, text, room);
    else
        snprintf(text, room, "S%u", place);
}

void register_model_value(const struct register_model *model, unsigned index, word value,
                          char *text, size_t room)
{
    if (model->protocol->write_value)
        model->protocol->write_value(index, value, text, room);
    else
        snprintf(text, room, "%u", value);
}

/* What was not seen by a fetch of an older message than the latest: "though S1 := 1, D since". */
static void tell_newer(const struct registers *at, char *line, size_t room)
{
    const struct access *access = &at->access;
    const unsigned process = at->process_of[access->place];
    const unsigned count = weak_count(at->model, at->state, process, access->index);
    char variable[48], value[64];
    register_model_name(at->model, access->place, access->index, variable, sizeof variable);
    snprintf(line + strlen(line), room - strlen(line), ", not seeing %s :=", variable);
    for (unsigned which = count - at->newer; which < count; which++) {
        register_model_value(at->model, access->index,
                             weak_value(at->model, at->state, process, access->index, which), value,
                             sizeof value);
        snprintf(line + strlen(line), room - strlen(line), "%s %s",
                 which == count - at->newer ? "" : ",", value);
    }
}

/* An access of naming.h, by its label: where it looks, or what it does. */
static void tell_naming(const struct access *access, char *line, size_t room)
{
    static const char *const lives[] = {"alive", "being claimed", "dead"};
    static const struct {
        const char *label, *words;
        enum { TELLS_NOTHING, TELLS_LIFE, TELLS_NUMBER, TELLS_NAME, TELLS_WHETHER } tells;
    } all[] = {
        {"life", "fetches the life of", TELLS_LIFE},
        {"name", "fetches the name of", TELLS_NAME},
        {"number", "fetches the number of", TELLS_NUMBER},
        {"life_again", "fetches again the life of", TELLS_LIFE},
        {"stands", "looks whether as it was is", TELLS_LIFE},
        {"stays", "looks whether as it was is", TELLS_LIFE},
        {"tag", "fetches the tag of", TELLS_NAME},
        {"gathered", "looks whether nobody has come to the name of", TELLS_WHETHER},
        {"claims", "notes how many have come to the name of", TELLS_NOTHING},
        {"floor", "fetches the floor of the name of", TELLS_NUMBER},
        {"give_up", "stores that nobody lives at", TELLS_NOTHING},
        {"leave_number", "raises the floor of the name of", TELLS_NUMBER},
        {"store_name", "stores the name of", TELLS_NAME},
        {"store_tag", "stores the tag of", TELLS_NAME},
        {"come_alive", "stores a new life of", TELLS_NOTHING},
        {"count", "counts who has come to the name of", TELLS_NOTHING},
    };
    const char *const label = access->line ? access->line->label : "";
    size_t which = 0;
    while (which + 1 < sizeof all / sizeof *all && strcmp(all[which].label, label) != 0)
        which++;
    const int length =
        snprintf(line, room, "%s: %s place %u", label, all[which].words, access->place);
    if (length < 0 || (size_t)length >= room)
        return;
    char *const end = line + length;
    const size_t left = room - (size_t)length;
    switch (all[which].tells) {
    case TELLS_LIFE:
        snprintf(end, left, ": %s", lives[access->value % 3]);
        break;
    case TELLS_NAME:
        snprintf(end, left, ": %c", (int)('a' + access->value));
        break;
    case TELLS_NUMBER:
        snprintf(end, left, ": %u", access->value);
        break;
    case TELLS_WHETHER:
        snprintf(end, left, ": %s", access->value ? "nobody" : "somebody");
        break;
    default:
        break;
    }
}

static void tell_access(const struct registers *at, char *line, size_t room)
{
    const struct register_model *model = at->model;
    const struct access *access = &at->access;
    const char *label = access->line ? access->line->label : "";
    char variable[48], value[64];
    register_model_name(model, access->place, access->index, variable, sizeof variable);
    register_model_value(model, access->index, access->value, value, sizeof value);
    switch (access->kind) {
    case ACCESS_READ:
        snprintf(line, room, "%s: fetches %s = %s", label, variable, value);
        if (at->newer)
            tell_newer(at, line, room);
        break;
    case ACCESS_WRITE:
        snprintf(line, room, "%s: stores %s := %s", label, variable, value);
        break;
    case ACCESS_BIT:
        snprintf(line, room, "%s: reads bit %s = %u%s", label, variable, access->value,
                 at->outcomes > 1 ? " (it flickers)" : "");
        break;
    case ACCESS_BEGIN:
        snprintf(line, room, "%s: begins to write bit %s := %u", label, variable, access->value);
        break;
    case ACCESS_SLEEP:
        snprintf(line, room, "%s: goes to sleep", label);
        break;
    case ACCESS_WAKE:
        snprintf(line, room, "%s: wakes who watches it", label);
        break;
    case ACCESS_ASK:
        snprintf(line, room, "%s: asks for %s, which is in its doorway and defers the answer",
                 label, variable);
        break;
    case ACCESS_RECALL:
        snprintf(line, room, "%s: the keeper of place %u, at %s = %s", label, access->place,
                 variable, value);
        break;
    case ACCESS_AWAKE:
        snprintf(line, room, "%s: awakens place %u", label, access->place);
        break;
    case ACCESS_WHEN:
        snprintf(line, room, "%s: finds its condition %s", label, access->value ? "true" : "false");
        break;
    case ACCESS_FENCE:
        snprintf(line, room, "%s: fence%s", label, access->value ? ", which is left out" : "");
        break;
    case ACCESS_GUESS:
        snprintf(line, room, "%s: says %s", label, access->value ? "yes" : "no");
        break;
    case ACCESS_NAMING:
        tell_naming(access, line, room);
        break;
    default:
        snprintf(line, room, "goes on");
    }
}

/* How it enters, if it does. */
static const char *entry(const struct registers *at, bool enters)
{
    if (!enters)
        return "";
    return at->complaint && strcmp(at->complaint, "race") == 0
               ? ", and is inside: a race with what was done there before"
               : ", and is inside";
}

static const char *request_name(const struct register_model *model, unsigned request)
{
    static const char *const operations[] = {" to read", " to take", " to offer", "",
                                             " the first read"};
    if (model->protocol->operations)
        return operations[request % 5];
    switch (request & 3) {
    case REQUEST_SHARED:
        return " shared";
    case REQUEST_RELEASE:
        return " to release";
    default:
        if (!(request & REQUEST_URGENT))
            return "";
        return model->problem == PROBLEM_ALLOCATION ? " for two units" : " with priority";
    }
}

void register_model_narrate(const struct system *system, unsigned char *state, struct move move,
                            char *line, size_t room)
{
    const struct register_model *model = system->context;
    const struct model_process *process = model_process(model, state, move.process);
    const enum part part = process->part;
    struct registers at;
    const bool enters = register_model_make(model, state, move, &at);
    char did[160];
    tell_access(&at, did, sizeof did);
    switch (move.kind) {
    case MOVE_START:
        if (part == PART_INSIDE) {
            static const char *const modes[] = {
                [REQUEST_EXCLUSIVE] = "exclusive",
                [REQUEST_SHARED] = "shared",
                [REQUEST_PROTECTED] = "protected-write",
            };
            snprintf(line, room, "converts to %s; %s", modes[move.choice & 3u], did);
            return;
        }
        if (model->renames && move.choice & REQUEST_NAME) {
            snprintf(line, room, "takes the name %c; %s", 'a' + (move.choice & 1), did);
            return;
        }
        snprintf(line, room, "begins%s; %s%s", request_name(model, move.choice & 7u), did,
                 entry(&at, enters));
        return;
    case MOVE_ABORT:
        snprintf(line, room, "gives up%s; %s",
                 part == PART_CONVERTING ? ", and stays as it was" : "", did);
        return;
    case MOVE_DEATH:
        snprintf(line, room, "dies%s", part == PART_INSIDE ? " inside" : "");
        return;
    case MOVE_SYSTEM:
        if (part == PART_MALFUNCTION)
            snprintf(line, room, "falls quiet");
        else if (model->errors)
            snprintf(line, room, "puts its words right");
        else if (model->weak)
            snprintf(line, room, "sees from now on all that was stored");
        else
            snprintf(line, room, "its store buffer drains: %s", did);
        return;
    case MOVE_FAULT:
        if (model->errors)
            snprintf(line, room, "an error%s", did); /* ": stores …" */
        else
            snprintf(line, room, "stops for ever, and nobody can tell");
        return;
    default:
        snprintf(line, room, "%s%s%s",
                 part == PART_INSIDE    ? "leaves; "
                 : part == PART_HOLDING ? "gives its unit back; "
                                        : "",
                 did, entry(&at, enters));
    }
}
