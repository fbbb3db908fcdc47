/* SPDX-License-Identifier: MIT */
/* The rows as tables of text, a case each. */
#include "table.h"

#include <math.h>
#include <string.h>

#include "machine.h"

void table_machine(const struct rows *rows, FILE *out)
{
    for (size_t at = 0; at < rows->count; at++)
        if (strcmp(rows->at[at].of, ROW_MACHINE) == 0)
            fprintf(out, "%-24s %s\n", rows->at[at].peer, rows->at[at].note);
}

static void print_number(FILE *out, int width, int digits, double value)
{
    if (value < 0)
        fprintf(out, " %*s", width, "");
    else if (isinf(value))
        fprintf(out, " %*s", width, "inf");
    else
        fprintf(out, " %*.*f", width, digits, value);
}

/* Nanoseconds below ten microseconds, and so on, with three digits or so. */
static void print_time(FILE *out, double ns)
{
    if (ns < 0)
        fprintf(out, " %12s", "");
    else if (ns < 1e4)
        fprintf(out, " %9.*f ns", ns < 100 ? 1 : 0, ns);
    else if (ns < 1e7)
        fprintf(out, " %9.1f µs", ns / 1e3);
    else
        fprintf(out, " %9.1f ms", ns / 1e6);
}

static void print_row(const struct row *row, bool contended, FILE *out)
{
    fprintf(out, "  %-16s", row->peer);
    if (row->median_ns < 0) {
        fprintf(out, " %s\n", row->note);
        return;
    }
    print_time(out, row->median_ns);
    print_number(out, 8, 2, row->ratio);
    fprintf(out, " %6.0f %%", 100 * row->spread);
    if (contended) {
        print_number(out, 11, 0, row->passages_per_second);
        print_number(out, 9, row->fairness < 10 ? 2 : 0, row->fairness);
        print_number(out, 10, 0, row->overtaken);
        print_number(out, 9, 0, row->overtaken_in_queue);
        print_time(out, row->cpu_ns);
    } else {
        print_time(out, row->p99_ns);
    }
    fputc('\n', out);
}

void table_case(const struct bench_case *of, const struct rows *rows, FILE *out)
{
    const bool contended =
        of->kind == CASE_CONTENDED || of->kind == CASE_READERS || of->kind == CASE_SLOTS;
    const struct row *first = NULL;
    for (size_t at = 0; at < rows->count; at++) {
        const struct row *row = &rows->at[at];
        if (strcmp(row->of, of->name) != 0)
            continue;
        if (!first) {
            first = row;
            fprintf(out, "\n%s: %s (median of %.0f)\n  %-16s %12s %8s %8s", of->name, of->what,
                    row->samples, "peer",
                    of->kind == CASE_KILL      ? "recovery"
                    : of->kind == CASE_STARTUP ? "start to end"
                                               : "a passage",
                    "ratio", "spread");
            if (contended)
                fprintf(out, " %11s %9s %10s %9s %12s\n", "passages/s", "max/min", "overtaken",
                        "in queue", "CPU each");
            else
                fprintf(out, " %12s\n", "99 % below");
        }
        print_row(row, contended, out);
    }
    if (first && strcmp(first->trusted, "yes") != 0)
        fprintf(out, "  %s: these figures are not to be trusted\n", first->trusted);
}

void table_legend(FILE *out)
{
    fprintf(
        out,
        "\nratio: to the first row, in the same run. spread: from a quarter to three quarters of "
        "the samples, by "
        "the median.\n"
        "max/min: passages of the member that had most, by those of the one that had least.\n"
        "overtaken: the greatest number of others that asked after one that waited, and were "
        "inside before it; in "
        "queue: the same,\n"
        "counted from when it was seen past its doorway (where that can be seen). CPU: of all "
        "members, a passage.\n"
        "A case is called noisy if the first row spreads by more than %.0f %%, or others used "
        "more than %.0f %% of "
        "the processors,\n"
        "or more than %.0f %% was stolen.\n",
        100 * SPREAD_MOST, 100 * OTHERS_MOST, 100 * STEAL_MOST);
}
