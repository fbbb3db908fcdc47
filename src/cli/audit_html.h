/* SPDX-License-Identifier: MIT */
/* `afteryou audit --html`: a recorded run as one HTML file. */
#ifndef AFTERYOU_CLI_AUDIT_HTML_H
#define AFTERYOU_CLI_AUDIT_HTML_H

#include "audit/audit.h"

/* The judgement, who held each region from when to when, and the space-time diagram of `length`
 * records. `file` is what the trace is called. 0, or a negative errno. */
int audit_write_html(const struct trace *trace, const struct audit *audit, const char *file,
                     size_t length, FILE *out);

#endif
