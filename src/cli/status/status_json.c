/* SPDX-License-Identifier: MIT */
/* `afteryou status --json`: schema 1. Fields may be added to it; a field that changes its meaning
 * makes it schema 2. */
#include "cli/status/status.h"
#include "cli/text.h"

enum { SCHEMA = 1, CYCLE_MOST = 4096 };

static const char *state_name(ay_state state)
{
    static const char *const names[] = {"idle", "waiting", "inside", "died-inside"};
    return names[state];
}

static void print_place(FILE *out, const struct sighting *item)
{
    const ay_place *seen = &item->seen;
    char user[64], since[40];
    text_user(seen->uid, user, sizeof user);
    text_timestamp(seen->since_ns, since, sizeof since);
    fprintf(out, "{\"place\":%u,\"names\":[", seen->place);
    for (char **name = item->name; *name; name++) {
        fputs(name == item->name ? "" : ",", out);
        text_json(out, *name);
    }
    fprintf(
        out,
        "],\"state\":\"%s\",\"alive\":%s,\"mode\":\"%s\",\"slots\":%u,\"take\":%u,\"of\":%u,\"units\":[",
        state_name(seen->state), seen->alive ? "true" : "false", text_mode(seen->mode),
        seen->slots ? seen->slots : 1, seen->take, seen->of);
    for (size_t at = 0; at < seen->unit_count; at++)
        fprintf(out, "%s%u", at ? "," : "", item->units[at]);
    fprintf(out, "],\"priority\":%d,\"fence\":%llu,\"order\":", seen->priority,
            (unsigned long long)seen->fence);
    fprintf(out, seen->order ? "%llu" : "null", (unsigned long long)seen->order);
    fprintf(out, ",\"conditional\":%s,\"waits_for\":", seen->conditional ? "true" : "false");
    fprintf(out, seen->waits_for >= 0 ? "%d" : "null", seen->waits_for);
    if (seen->since_ns)
        fprintf(out, ",\"since\":\"%s\",\"seconds\":%.3f", since,
                (double)(text_now() - seen->since_ns) / 1e9);
    else
        fputs(",\"since\":null,\"seconds\":null", out);
    fprintf(out, ",\"pid\":%d,\"tid\":%d,\"pid_namespace\":%llu,\"start_time\":%llu", seen->pid,
            seen->tid, (unsigned long long)seen->pid_namespace,
            (unsigned long long)seen->start_time);
    fprintf(out, ",\"uid\":%u,\"user\":", seen->uid);
    text_json(out, user);
    fputs(",\"command\":", out);
    text_json(out, item->command);
    fputc('}', out);
}

static void print_cycles(FILE *out, const struct sightings *space)
{
    static size_t cycle[CYCLE_MOST];
    size_t from = 0, length;
    const char *separator = "";
    while ((length = sightings_cycle(space, &from, cycle, CYCLE_MOST)) > 0) {
        fprintf(out, "%s[", separator);
        for (size_t at = 0; at < length; at++)
            fprintf(out, "%s%u", at ? "," : "", space->item[cycle[at]].seen.place);
        fputc(']', out);
        separator = ",";
    }
}

static void print_seen(FILE *out, const struct sightings *space, const struct status_words *asked)
{
    const char *separator = "";
    for (size_t at = 0; at < space->count; at++) {
        const struct sighting *item = &space->item[at];
        if ((!item->seen.alive && item->seen.state != AY_DEAD_INSIDE) ||
            !status_is_asked(asked, item))
            continue;
        fputs(separator, out);
        print_place(out, item);
        separator = ",";
    }
}

static void print_machine(FILE *out, const struct sightings *machine,
                          const struct status_words *asked)
{
    fputs("{\"machine\":", out);
    text_json(out, machine->name);
    fputs(",\"agent\":", out);
    text_json(out, machine->path);
    fputs(",\"seen\":[", out);
    print_seen(out, machine, asked);
    fputs("]}", out);
}

static void print_space(FILE *out, const struct sightings *space, const struct status_words *asked)
{
    const ay_view *view = &space->view;
    fputs("{\"name\":", out);
    text_json(out, space->name);
    fputs(",\"path\":", out);
    text_json(out, space->path);
    fprintf(
        out,
        ",\"protocol\":\"%s\",\"precedence\":\"%s\",\"overtake\":%u,\"places\":%u,\"used\":%u,\"alive\":%u,"
        "\"mode\":\"%04o\",\"uid\":%u,\"gid\":%u,\"created\":%lld,\"seen\":[",
        view->protocol, text_precedence(view->precedence), view->overtake, view->places, view->used,
        view->alive, view->mode, view->uid, view->gid, (long long)view->created_s);
    print_seen(out, space, asked);
    fputs("],\"cycles\":[", out);
    print_cycles(out, space);
    fputs("]}", out);
}

struct removed_list {
    FILE *out;
    const char *separator;
};

static void print_removed(const char *path, int pid, void *arg)
{
    struct removed_list *list = arg;
    fprintf(list->out, "%s{\"pid\":%d,\"path\":", list->separator, pid);
    text_json(list->out, path);
    fputc('}', list->out);
    list->separator = ",";
}

void status_print_json(FILE *out, const struct status_view *view)
{
    char now[40];
    text_timestamp(text_now(), now, sizeof now);
    fprintf(out, "{\"schema\":%d,\"time\":\"%s\",", SCHEMA, now);
    if (view->asked->cluster) {
        fputs("\"cluster\":", out);
        text_json(out, view->asked->cluster);
    }
    fputs(view->asked->cluster ? ",\"machines\":[" : "\"spaces\":[", out);
    for (size_t at = 0; at < view->count; at++) {
        fputs(at ? "," : "", out);
        if (view->asked->cluster)
            print_machine(out, &view->space[at], view->asked);
        else
            print_space(out, &view->space[at], view->asked);
    }
    fputs("]", out);
    if (!view->asked->cluster) {
        struct removed_list list = {.out = out, .separator = ""};
        fputs(",\"removed\":[", out);
        status_removed(view->asked, print_removed, &list);
        fputs("],\"unreadable\":[", out);
        for (size_t at = 0; at < view->unreadable_count; at++) {
            fputs(at ? ",{\"name\":" : "{\"name\":", out);
            text_json(out, view->unreadable[at].name);
            fputs(",\"error\":", out);
            text_json(out, view->unreadable[at].why);
            fputc('}', out);
        }
        fputs("]", out);
    }
    fputs("}\n", out);
}
