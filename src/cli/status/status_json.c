/* SPDX-License-Identifier: MIT */
/* `afteryou status --json`, and what `afteryou spaces --json` says of a space: docs/json.md. Fields
 * may be added to a schema; a field that changes its meaning makes another one. */
#include "cli/status/status.h"
#include "cli/text.h"

enum { CYCLE_MOST = 4096 };

static const char *state_name(ay_state state)
{
    static const char *const names[] = {"idle", "waiting", "inside", "died-inside"};
    return names[state];
}

static void print_since(struct json *json, int64_t since_ns)
{
    if (since_ns) {
        char since[40];
        text_timestamp(since_ns, since, sizeof since);
        json_text(json, "since", since);
        json_real(json, "seconds", (double)(text_now() - since_ns) / 1e9, 3);
    } else {
        json_null(json, "since");
        json_null(json, "seconds");
    }
}

static void print_passage(struct json *json, const struct sighting *item)
{
    const ay_place *seen = &item->seen;
    json_text(json, "state", state_name(seen->state));
    json_flag(json, "alive", seen->alive);
    json_text(json, "mode", text_mode(seen->mode));
    if (seen->wants != seen->mode)
        json_text(json, "wants", text_mode(seen->wants));
    else
        json_null(json, "wants");
    if (seen->cancelled_by)
        json_signed(json, "cancelled_by", seen->cancelled_by);
    else
        json_null(json, "cancelled_by");
    json_number(json, "slots", seen->slots ? seen->slots : 1);
    json_number(json, "take", seen->take);
    json_number(json, "of", seen->of);
    json_list(json, "units");
    for (size_t at = 0; at < seen->unit_count; at++)
        json_number(json, NULL, item->units[at]);
    json_close(json);
    json_signed(json, "priority", seen->priority);
    json_number(json, "fence", seen->fence);
    if (seen->order)
        json_number(json, "order", seen->order);
    else
        json_null(json, "order");
    json_flag(json, "conditional", seen->conditional);
    if (seen->waits_for >= 0)
        json_signed(json, "waits_for", seen->waits_for);
    else
        json_null(json, "waits_for");
    print_since(json, seen->since_ns);
}

void status_print_place(struct json *json, const struct sighting *item)
{
    const ay_place *seen = &item->seen;
    char user[64];
    text_user(seen->uid, user, sizeof user);
    json_object(json, NULL);
    json_number(json, "place", seen->place);
    json_list(json, "names");
    for (char **name = item->name; *name; name++)
        json_text(json, NULL, *name);
    json_close(json);
    print_passage(json, item);
    json_signed(json, "pid", seen->pid);
    json_signed(json, "tid", seen->tid);
    json_number(json, "pid_namespace", seen->pid_namespace);
    json_number(json, "start_time", seen->start_time);
    json_number(json, "uid", seen->uid);
    json_text(json, "user", user);
    json_text(json, "command", item->command);
    json_close(json);
}

void status_print_cycles(struct json *json, const struct sightings *space)
{
    static size_t cycle[CYCLE_MOST];
    struct cycle_search search;
    size_t length;
    json_list(json, "cycles");
    const bool open = cycles_open(&search, space);
    while (open && (length = cycles_next(&search, cycle, CYCLE_MOST)) > 0) {
        json_list(json, NULL);
        for (size_t at = 0; at < length; at++)
            json_number(json, NULL, space->item[cycle[at]].seen.place);
        json_close(json);
    }
    if (open)
        cycles_close(&search);
    json_close(json);
}

bool status_is_told(const struct status_words *asked, const struct sighting *item)
{
    return (item->seen.alive || item->seen.state == AY_DEAD_INSIDE ||
            status_is_cancelled(&item->seen)) &&
           status_is_asked(asked, item);
}

static void print_seen(struct json *json, const struct sightings *space,
                       const struct status_words *asked)
{
    json_list(json, "seen");
    for (size_t at = 0; at < space->count; at++) {
        const struct sighting *item = &space->item[at];
        if (status_is_told(asked, item))
            status_print_place(json, item);
    }
    json_close(json);
}

static void print_machine(struct json *json, const struct sightings *machine,
                          const struct status_view *view)
{
    json_object(json, NULL);
    json_text(json, "machine", machine->name);
    json_text(json, "agent", machine->path);
    if (machine->lease_ms > 0)
        json_real(json, "lease_seconds", (double)machine->lease_ms / 1e3, 3);
    else
        json_null(json, "lease_seconds");
    json_list(json, "permissions");
    for (size_t at = 0; at < machine->permissions; at++) {
        json_object(json, NULL);
        json_text(json, "name", machine->permission[at].name);
        json_text(json, "mode", machine->permission[at].exclusive ? "exclusive" : "shared");
        json_close(json);
    }
    json_close(json);
    status_print_links(json, view, machine);
    print_seen(json, machine, view->asked);
    json_close(json);
}

void status_describe_space(struct json *json, const struct sightings *space)
{
    const ay_view *view = &space->view;
    char mode[16];
    snprintf(mode, sizeof mode, "%04o", view->mode);
    json_text(json, "name", space->name);
    json_text(json, "path", space->path);
    json_text(json, "protocol", view->protocol);
    json_text(json, "precedence", text_precedence(view->precedence));
    json_number(json, "overtake", view->overtake);
    json_number(json, "places", view->places);
    json_number(json, "used", view->used);
    json_number(json, "alive", view->alive);
    json_text(json, "mode", mode);
    json_number(json, "uid", view->uid);
    json_number(json, "gid", view->gid);
    json_signed(json, "created", view->created_s);
}

static void print_space(struct json *json, const struct sightings *space,
                        const struct status_words *asked)
{
    json_object(json, NULL);
    status_describe_space(json, space);
    print_seen(json, space, asked);
    status_print_cycles(json, space);
    json_close(json);
}

static void print_cluster(struct json *json, const struct status_view *view)
{
    json_text(json, "cluster", view->asked->cluster);
    json_list(json, "machines");
    for (size_t at = 0; at < view->count; at++)
        print_machine(json, &view->space[at], view);
    json_close(json);
}

void status_print_troubles(struct json *json, const struct status_view *view)
{
    json_list(json, "removed");
    for (size_t at = 0; at < view->removed_count; at++) {
        json_object(json, NULL);
        json_signed(json, "pid", view->removed[at].pid);
        json_text(json, "path", view->removed[at].path);
        json_close(json);
    }
    json_close(json);
    json_list(json, "unreadable");
    for (size_t at = 0; at < view->unreadable_count; at++) {
        json_object(json, NULL);
        json_text(json, "name", view->unreadable[at].name);
        json_text(json, "error", view->unreadable[at].why);
        json_close(json);
    }
    json_close(json);
}

static void print_spaces(struct json *json, const struct status_view *view)
{
    json_list(json, "spaces");
    for (size_t at = 0; at < view->count; at++)
        print_space(json, &view->space[at], view->asked);
    json_close(json);
    status_print_troubles(json, view);
}

void status_begin_json(struct json *json)
{
    char now[40];
    text_timestamp(text_now(), now, sizeof now);
    json_object(json, NULL);
    json_number(json, "schema", STATUS_SCHEMA);
    json_text(json, "time", now);
}

void status_print_json(FILE *out, const struct status_view *view)
{
    struct json json = json_begin(out);
    status_begin_json(&json);
    (view->asked->cluster ? print_cluster : print_spaces)(&json, view);
    json_close(&json);
    json_end(&json);
}
