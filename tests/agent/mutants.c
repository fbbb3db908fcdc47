/* SPDX-License-Identifier: MIT */
/* The agent without one of its rules, for each rule: the scenes or the storm must find what goes
 * wrong. A rule that could be left out unnoticed would be untested, or of no use.
 *
 * usage: mutants SEEDS SCENES-PROGRAM… */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blows.h"

static const struct {
    enum agent_rule rule;
    const char *name;
} rules[] = {
    {WITHOUT_VOID_BURIALS, "void burials"},
    {WITHOUT_GAPS, "gaps"},
    {WITHOUT_GONE, "gone"},
    {WITHOUT_SAME_PAGES, "same pages"},
    {WITHOUT_FRESH_GRACE, "grace of fresh pages"},
    {WITHOUT_OBLIGATIONS, "obligations"},
    {WITHOUT_OWING, "owing"},
    {WITHOUT_GHOSTS, "ghosts"},
    {WITHOUT_TIME_OF_SENDING, "time of sending"},
    {WITHOUT_MAJORITY, "majority"},
    {WITHOUT_LAPSING, "lapsing"},
    {WITHOUT_GRACE, "grace"},
    {WITHOUT_SIGNS_OF_LIFE, "signs of life"},
    {WITHOUT_QUARANTINE, "quarantine"},
    {WITHOUT_KNOWN_VIEWS, "known views"},
    {WITHOUT_USED_FENCES, "used fences"},
    {WITHOUT_REPLAY, "replay"},
    {WITHOUT_DEATHS_IN_HELLO, "deaths in HELLO"},
    {WITHOUT_SWEEPING, "sweeping"},
    {WITHOUT_DOUBTS, "doubts"},
    {WITHOUT_PARTING, "parting"},
    {WITHOUT_CLOSING_LINKS, "closing links"},
    {WITHOUT_RECEIVERS, "incarnation of receiver"},
    {WITHOUT_HOLDING_EARLY, "holding what is early"},
    {WITHOUT_WANT_AT_SUCCESSION, "want at a succession"},
    {WITHOUT_WANT_LATER, "want of a ghost"},
    {WITHOUT_DETOUR, "detour"},
    {WITHOUT_LINK_NUMBERS, "numbers of a link"},
    {WITHOUT_POSITION, "position in a renewal"},
    {WITHOUT_LAST_WORDS_SAID, "last words"},
    {WITHOUT_CONTEST, "contest by a request"},
    {WITHOUT_IDENTITY, "identity of a name"},
    {WITHOUT_SHEDDING, "shedding permissions"},
    {WITHOUT_USERS_FIRST, "users first"},
    {WITHOUT_FLOOR, "floor of the fences"},
    {WITHOUT_UNTOLD, "names of the untold"},
    {WITHOUT_RESTORING, "restoring what is kept"},
    {WITHOUT_MARGIN, "margin of a burial"},
    {WITHOUT_LEAVING_LATE, "leaving a name late"},
    {WITHOUT_ASKING_ANEW, "asking anew after a loss"},
    {WITHOUT_STALENESS, "staleness of what is asked for"},
};

static const struct message_protocol *const protocols[] = {
    &carvalho_roucairol_protocol, &ricart_agrawala_protocol, &lamport_protocol, &token_protocol};

/* In a process of its own, as all are: an assertion that fails refutes too. */
static void storm(const char *name, enum agent_rule rule, uint64_t seeds)
{
    for (uint64_t seed = 0; seed < seeds; seed++) {
        /* over links there is one protocol */
        const struct message_protocol *protocol =
            rule >= WITHOUT_CLOSING_LINKS ? &carvalho_roucairol_protocol : protocols[seed % 4];
        const char *what = blow(seed, protocol, UINT64_C(1) << rule);
        if (!what)
            continue;
        printf("without %-22s %s, seed %llu: %s\n", name, protocol->name, (unsigned long long)seed,
               what);
        fflush(stdout);
        _exit(1);
    }
    _exit(0);
}

static void play(enum agent_rule rule, const char *scenes)
{
    char number[32];
    const int nowhere = open("/dev/null", O_WRONLY);
    snprintf(number, sizeof number, "%llu", 1ULL << rule);
    setenv("AGENT_TEST_WITHOUT", number, 1);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execl(scenes, scenes, (char *)NULL);
    _exit(0); /* that refutes nothing */
}

static bool has_failed(pid_t child)
{
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && status != 0;
}

static bool is_refuted(size_t which, uint64_t seeds, char **scenes)
{
    const char *name = rules[which].name;
    for (; *scenes; scenes++) {
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0)
            play(rules[which].rule, *scenes);
        if (has_failed(child)) {
            printf("without %-22s %s\n", name, strrchr(*scenes, '/') + 1);
            return true;
        }
    }
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        storm(name, rules[which].rule, seeds);
    if (has_failed(child))
        return true;
    printf("without %-22s NOTHING is found\n", name);
    return false;
}

int main(int count, char **words)
{
    unsigned survivors = 0;
    if (count < 2) {
        fputs("usage: mutants SEEDS SCENES-PROGRAM…\n", stderr);
        return 2;
    }
    for (size_t which = 0; which < sizeof rules / sizeof *rules; which++)
        survivors += !is_refuted(which, strtoull(words[1], NULL, 10), words + 2);
    printf("%u rules can be left out unnoticed\n", survivors);
    return survivors != 0;
}
