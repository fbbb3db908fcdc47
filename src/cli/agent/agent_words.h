/* SPDX-License-Identifier: MIT */
/* The words of `afteryou agent`. */
#ifndef AFTERYOU_CLI_AGENT_AGENT_WORDS_H
#define AFTERYOU_CLI_AGENT_AGENT_WORDS_H

#include "agent/host/service.h"

/* 0; negative: done, with success (--help); or the exit code, after one line on stderr. */
int agent_words_parse(int count, char **words, struct service_options *asked);

#endif
