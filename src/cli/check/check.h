/* SPDX-License-Identifier: MIT */
/* What the files of `afteryou check` share: the words of the command line, and the answer. */
#ifndef AFTERYOU_CLI_CHECK_CHECK_H
#define AFTERYOU_CLI_CHECK_CHECK_H

#include <stdio.h>

#include "check/registers/catalogue.h"
#include "check/search/sample.h"
#include "check/search/verdict.h"

struct check_words {
    const char *protocol;
    struct register_model model;
    unsigned properties; /* those asked for; 0: those promised */
    struct search_limits limits;
    struct sample_plan sample; /* random schedules, instead of all; none if .runs is 0 */
    const char *svg;
    bool json;
};

/* 0 to go on, -1 if all is said and done (--help, --list), or EXIT_USAGE after saying what is
 * wrong. */
int check_words_parse(int count, char **words, struct check_words *asked);

/* The properties that this protocol promises in this configuration, a bit each. */
unsigned check_promises(const struct register_model *model);

/* What was asked, in one line: "n = 3, slots = 1, deaths". */
void check_describe(const struct check_words *asked, char *text, size_t room);

void check_report_text(FILE *out, const struct check_words *asked, const struct search *search,
                       const struct verdict *verdict, unsigned promised);
void check_report_json(FILE *out, const struct check_words *asked, const struct search *search,
                       const struct verdict *verdict, unsigned promised);
void check_report_sample(FILE *out, const struct check_words *asked,
                         const struct sample_result *result);
int check_report_svg_run(const char *path, const struct check_words *asked,
                         const struct check_run *run, const char *broken);
/* The first broken property's run. 0, or a negative errno. */
int check_report_svg(const char *path, const struct check_words *asked,
                     const struct verdict *verdict);

/* Words for people: "broken", "12,345". */
const char *check_answer(enum answer answer);
void check_print_run(FILE *out, const struct check_run *run, const struct register_model *model);

#endif
