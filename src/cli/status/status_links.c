/* SPDX-License-Identifier: MIT */
/* `afteryou status --cluster`: the links of each machine with the others. */
#include "cli/status/status.h"
#include "cli/text.h"
#include "common/json.h"

/* Its name, or its number if it has not answered. */
static const char *name_of(const struct status_view *view, unsigned node, char text[16])
{
    for (size_t at = 0; at < view->count; at++)
        if (view->space[at].node == node)
            return view->space[at].name;
    snprintf(text, 16, "%u", node);
    return text;
}

static void tell_count(FILE *out, uint64_t count, const char *what, bool *open)
{
    if (count == 0)
        return;
    fprintf(out, "%s%llu %s", *open ? ", " : " (", (unsigned long long)count, what);
    *open = true;
}

void status_tell_links(FILE *out, const struct status_view *view, const struct sightings *machine)
{
    for (size_t at = 0; at < machine->links; at++) {
        const struct sighted_link *link = &machine->link[at];
        char number[16];
        bool open = false;
        fprintf(out, "%s %s ", at ? "," : "", name_of(view, link->node, number));
        if (!link->up)
            fputs("down", out);
        else if (link->round_trip_ns)
            fprintf(out, "%.2f ms", (double)link->round_trip_ns / 1e6);
        else
            fputs("up", out);
        tell_count(out, link->breaks, "breaks", &open);
        tell_count(out, link->resent, "resent", &open);
        tell_count(out, link->relayed, "by the ring", &open);
        if (open)
            fputc(')', out);
    }
}

void status_print_links(struct json *json, const struct status_view *view,
                        const struct sightings *machine)
{
    static const char *const kinds[] = {"none", "plain", "secured"};
    json_text(json, "links", kinds[machine->kind]);
    json_list(json, "peers");
    for (size_t at = 0; at < machine->links; at++) {
        const struct sighted_link *link = &machine->link[at];
        char number[16];
        json_object(json, NULL);
        json_text(json, "machine", name_of(view, link->node, number));
        json_flag(json, "up", link->up);
        if (link->round_trip_ns)
            json_real(json, "round_trip_seconds", (double)link->round_trip_ns / 1e9, 9);
        else
            json_null(json, "round_trip_seconds");
        json_number(json, "breaks", link->breaks);
        json_number(json, "resent", link->resent);
        json_number(json, "relayed", link->relayed);
        json_close(json);
    }
    json_close(json);
}
