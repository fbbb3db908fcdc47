/* SPDX-License-Identifier: MIT */
/* `afteryou simulate --table`: the authors' Table I, entry by entry, with the paper's figure beside
 * ours. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/simulate/simulate.h"
#include "common/json.h"
#include "simulate/table.h"

static const struct message_protocol *const rows[] = {
    &lamport_protocol, &ricart_agrawala_protocol, &carvalho_roucairol_protocol, &token_protocol};
enum { ROWS = sizeof rows / sizeof *rows };

static bool agrees(const struct message_protocol *protocol, unsigned note, uint32_t nodes,
                   const struct table_row *row)
{
    const double printed = table_printed_figure(protocol, note, nodes);
    return printed < 0 || fabs(row->delay[note - 1] - printed) < 0.001;
}

static void print_text(uint32_t nodes, const struct table_row *measured)
{
    printf("N = %u                 messages                 delays in round trips, measured (as "
           "printed)\n",
           nodes);
    printf("                       measured   (as printed)  %-16s%-16s%-16s%s\n", "Note 1",
           "Note 2", "Note 3", "Note 4");
    for (unsigned i = 0; i < ROWS; i++) {
        const struct table_row *row = &measured[i];
        char messages[48], cell[48];
        if (row->fewest == row->greatest)
            snprintf(messages, sizeof messages, "%" PRIu64, row->fewest);
        else
            snprintf(messages, sizeof messages, "%" PRIu64 "%s%" PRIu64, row->fewest,
                     row->only_those ? " or " : "..", row->greatest);
        printf("  %-20s %-10s (%s)%*s", rows[i]->name, messages, table_printed(rows[i], 0),
               (int)(12 - strlen(table_printed(rows[i], 0))), "");
        for (unsigned note = 1; note <= TABLE_NOTES; note++) {
            snprintf(cell, sizeof cell, "%.2f (%s)%s", row->delay[note - 1],
                     table_printed(rows[i], note), agrees(rows[i], note, nodes, row) ? "" : " *");
            printf("%-16s", cell);
        }
        putchar('\n');
    }
    for (unsigned i = 0; i < ROWS; i++)
        for (unsigned note = 1; note <= TABLE_NOTES; note++)
            if (!agrees(rows[i], note, nodes, &measured[i])) {
                const char *why = table_difference(rows[i], note);
                printf("  * %s, note %u: %s\n", rows[i]->name, note,
                       why ? why : "differs, and we do not know why");
            }
}

static void print_json(uint32_t nodes, const struct table_row *measured)
{
    struct json json = json_begin(stdout);
    for (unsigned i = 0; i < ROWS; i++) {
        const struct table_row *row = &measured[i];
        json_object(&json, NULL);
        json_number(&json, "schema", SIMULATE_SCHEMA);
        json_number(&json, "nodes", nodes);
        json_text(&json, "protocol", rows[i]->name);
        json_number(&json, "fewest", row->fewest);
        json_number(&json, "greatest", row->greatest);
        json_flag(&json, "nothing_between", row->only_those);
        json_list(&json, "notes");
        for (unsigned note = 1; note <= TABLE_NOTES; note++) {
            json_object(&json, NULL);
            json_real(&json, "measured", row->delay[note - 1], 6);
            json_text(&json, "printed", table_printed(rows[i], note));
            json_flag(&json, "agrees", agrees(rows[i], note, nodes, row));
            json_close(&json);
        }
        json_close(&json);
        json_close(&json);
        json_end(&json);
    }
}

static int write_trace(const struct simulate_request *request)
{
    FILE *out = fopen(request->trace, "w");
    int error = out ? table_trace(request->how.variant->protocol, request->sizes[0], out) : -errno;
    if (out && fclose(out) != 0 && !error)
        error = -errno;
    return error ? usage_error("simulate", "cannot write the trace %s: %s", request->trace,
                               strerror(-error))
                 : 0;
}

int simulate_table(struct simulate_request *request)
{
    const int status = request->trace ? write_trace(request) : 0;
    if (status)
        return status;
    if (request->sizes_count == 0) {
        static const uint32_t usual[] = {3, 10, 100};
        memcpy(request->sizes, usual, sizeof usual);
        request->sizes_count = sizeof usual / sizeof *usual;
    }
    for (unsigned size = 0; size < request->sizes_count; size++) {
        struct table_row measured[ROWS];
        for (unsigned i = 0; i < ROWS; i++) {
            const int error = table_measure(rows[i], request->sizes[size], &measured[i]);
            if (error)
                return usage_error("simulate", "cannot measure the table: %s", strerror(-error));
        }
        (request->json ? print_json : print_text)(request->sizes[size], measured);
        if (!request->json && size + 1 < request->sizes_count)
            putchar('\n');
    }
    return EXIT_HOLDS;
}
