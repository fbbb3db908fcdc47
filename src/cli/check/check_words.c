/* SPDX-License-Identifier: MIT */
/* The words of `afteryou check`, of protocols of registers and of message protocols. */
#include <stdio.h>
#include <string.h>

#include "cli/check/check.h"
#include "cli/check/check_lists.h"
#include "cli/commands.h"
#include "cli/text.h"

static const char *mode_at(size_t at)
{
    return at == CHECK_BOTH ? "both" : text_mode_at(at);
}

static const char *precedence_at(size_t at)
{
    static const char *const names[] = {[CHECK_IN_ORDER] = "in-order",
                                        [CHECK_WRITERS_FIRST] = "writers-first",
                                        [CHECK_PRIORITY] = "priority"};
    return at < sizeof names / sizeof *names ? names[at] : NULL;
}

static const char *memory_model_at(size_t at)
{
    static const char *const names[] = {
        [CHECK_SC] = "sc", [CHECK_TSO] = "tso", [CHECK_C11] = "c11"};
    return at < sizeof names / sizeof *names ? names[at] : NULL;
}

static const char *network_at(size_t at)
{
    return at <= CHANNELS_AGREED ? check_network((enum channels)at) : NULL;
}

/* Those of both kinds of protocols, then those of message protocols alone. */
static const char *property_at(size_t at)
{
    return at < PROPERTY_COUNT ? property_name((enum property)at)
                               : messages_property_name((unsigned)(at - CHECK_MESSAGES_PROPERTIES));
}

static const char *errors_at(size_t at)
{
    static const char *const names[] = {
        [ERRORS_NONE] = "none", [ERRORS_WAITING] = "waiting", [ERRORS_ANYWHERE] = "anywhere"};
    return at < sizeof names / sizeof *names ? names[at] : NULL;
}

static const char *timeouts_at(size_t at)
{
    static const char *const names[] = {
        [TIMEOUTS_NONE] = "none", [TIMEOUTS_RIGHT] = "right", [TIMEOUTS_WRONG] = "wrong"};
    return at < sizeof names / sizeof *names ? names[at] : NULL;
}

enum { FOR_REGISTERS = 1, FOR_MESSAGES = 2, FOR_LINK = 4 };

static const struct option_row rows[] = {
    {.heading = "What is checked",
     .letters = "n",
     .names = {"places", "nodes"},
     .argument = "N",
     .help = "how many places, or nodes",
     .standard = "3; 2 for pair and for message protocols",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = PROCESSES_MOST,
     OPTION_AT(struct check_words, count)},
    {.names = {"modes"},
     .argument = "LIST",
     .help = "what a passage may ask for, with commas between; of protocols of registers only "
             "exclusive, shared, both, and with --convert protected-write",
     .standard = "exclusive",
     .kind = OPTION_BITS,
     .list = mode_at,
     OPTION_AT(struct check_words, modes)},
    {.names = {"property"},
     .argument = "LIST",
     .help = "judge only these; those from fence on are of message protocols",
     .standard = "what is promised",
     .kind = OPTION_BITS,
     .list = property_at,
     OPTION_AT(struct check_words, properties)},
    {.heading = "Of protocols of registers",
     .letters = "l",
     .names = {"slots"},
     .argument = "L",
     .help = "how many may be inside at once",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = PROCESSES_MOST,
     OPTION_AT(struct check_words, model.slots),
     .only = FOR_REGISTERS},
    {.names = {"alive"},
     .argument = "LIST",
     .help = "only these places are ever used, as in 0,2,5",
     .kind = OPTION_CALL,
     .take = check_take_places,
     .takes = "places from 0 to 7, as in 0,2,5",
     .only = FOR_REGISTERS},
    {.names = {"units"},
     .argument = "T",
     .help = "the allocation problem: acquire one or two of T units, then release them",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = PROCESSES_MOST,
     OPTION_AT(struct check_words, model.units),
     .only = FOR_REGISTERS},
    {.names = {"needs"},
     .argument = "K",
     .help = "with --units: acquire K of them, one after another, then release all",
     .standard = "1",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = 7,
     OPTION_AT(struct check_words, model.needs),
     .only = FOR_REGISTERS},
    {.names = {"banker"},
     .help = "with --needs: acquire only what leaves all the others able to get theirs",
     .kind = OPTION_FLAG,
     OPTION_AT(struct check_words, model.banker),
     .only = FOR_REGISTERS},
    {.names = {"rivals"},
     .argument = "LIST",
     .help = "only these can conflict, as in 0-1,1-2; nobody reads the words of another",
     .standard = "all",
     .kind = OPTION_CALL,
     .take = check_take_rivals,
     .takes = "pairs of places from 0 to 7, as in 0-1,1-2",
     .only = FOR_REGISTERS},
    {.names = {"overtake"},
     .argument = "B",
     .help = "who is awake may pass who sleeps, B times",
     .kind = OPTION_NUMBER,
     .most = 16,
     OPTION_AT(struct check_words, model.overtake),
     .only = FOR_REGISTERS},
    {.names = {"precedence"},
     .argument = "P",
     .help = "who should precede",
     .standard = "in-order",
     .kind = OPTION_CHOICE,
     .list = precedence_at,
     OPTION_AT(struct check_words, precedence),
     .only = FOR_REGISTERS},
    {.names = {"padding"},
     .argument = "D",
     .help = "clock: positions of the clock for each place",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = 16,
     OPTION_AT(struct check_words, model.padding),
     .only = FOR_REGISTERS},
    {.names = {"no-express"},
     .help = "courtesy: without its express lane",
     .kind = OPTION_SET,
     .most = 0,
     OPTION_AT(struct check_words, model.express),
     .only = FOR_REGISTERS},
    {.names = {"convert"},
     .help = "courtesy: who is inside may change its mode, twice a passage, and comes in any",
     .kind = OPTION_FLAG,
     OPTION_AT(struct check_words, model.converts),
     .only = FOR_REGISTERS},
    {.names = {"watch"},
     .argument = "N",
     .help = "courtesy: who sleeps may watch N places at most",
     .kind = OPTION_NUMBER,
     .most = WATCH_MOST,
     OPTION_AT(struct check_words, model.room),
     .only = FOR_REGISTERS},
    {.names = {"strangers"},
     .help = "courtesy: a place may pass to one who is no rival, and back",
     .kind = OPTION_FLAG,
     OPTION_AT(struct check_words, model.strangers),
     .only = FOR_REGISTERS},
    {.names = {"fences"},
     .help = "judge as well that fences grow",
     .kind = OPTION_FLAG,
     OPTION_AT(struct check_words, model.fences),
     .only = FOR_REGISTERS},
    {.names = {"passages"},
     .argument = "K",
     .help = "each place begins at most K passages",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = 30,
     OPTION_AT(struct check_words, model.passages),
     .only = FOR_REGISTERS},
    {.names = {"no-deaths"},
     .help = "nobody dies",
     .kind = OPTION_SET,
     .most = 0,
     OPTION_AT(struct check_words, model.deaths),
     .only = FOR_REGISTERS},
    {.names = {"aborts"},
     .help = "who waits may give up",
     .kind = OPTION_FLAG,
     OPTION_AT(struct check_words, model.aborts),
     .only = FOR_REGISTERS},
    {.names = {"malfunction"},
     .help = "the words of one that died read as anything for a while",
     .kind = OPTION_FLAG,
     OPTION_AT(struct check_words, model.malfunction),
     .only = FOR_REGISTERS},
    {.names = {"errors"},
     .argument = "WHERE",
     .help = "whose words may become anything, again and again; exclusion must come back",
     .standard = "none",
     .kind = OPTION_CHOICE,
     .list = errors_at,
     OPTION_AT(struct check_words, model.errors),
     .only = FOR_REGISTERS},
    {.names = {"halts"},
     .argument = "K",
     .help = "up to K processes stop for ever, and nobody can tell",
     .kind = OPTION_NUMBER,
     .most = PROCESSES_MOST,
     OPTION_AT(struct check_words, model.halts),
     .only = FOR_REGISTERS},
    {.names = {"timeouts"},
     .argument = "WHICH",
     .help = "with --halts: who stopped is timed out; wrong: and perhaps who is slow",
     .standard = "none",
     .kind = OPTION_CHOICE,
     .list = timeouts_at,
     OPTION_AT(struct check_words, model.timeouts),
     .only = FOR_REGISTERS},
    {.names = {"stopped"},
     .argument = "P:HOW",
     .help = "the process at place P has stopped, in way HOW; several with commas between",
     .kind = OPTION_CALL,
     .take = check_take_stopped,
     .takes = "PLACE:HOW, as in 1:853, with commas between",
     .only = FOR_REGISTERS},
    {.names = {"late"},
     .help = "and the others had passed their doorways by then",
     .kind = OPTION_FLAG,
     OPTION_AT(struct check_words, model.stopped_late),
     .only = FOR_REGISTERS},
    {.names = {"memory-model"},
     .argument = "MODEL",
     .help = "sc: a store is seen at once; tso: it waits in a buffer, as on x86; c11: fetches "
             "acquire, stores release, and only fences order one behind the other",
     .standard = "sc",
     .kind = OPTION_CHOICE,
     .list = memory_model_at,
     OPTION_AT(struct check_words, memory_model),
     .only = FOR_REGISTERS},
    {.names = {"tso"},
     .help = "--memory-model tso",
     .kind = OPTION_SET,
     .most = CHECK_TSO,
     OPTION_AT(struct check_words, memory_model),
     .only = FOR_REGISTERS},
    {.names = {"lag"},
     .argument = "K",
     .help = "c11: a fetch sees one of the last K + 1 stores; then passages need not be bounded, "
             "unless numbers grow",
     .kind = OPTION_NUMBER,
     .most = 20,
     OPTION_AT(struct check_words, model.lag),
     .only = FOR_REGISTERS},
    {.names = {"no-fence"},
     .argument = "LIST",
     .help = "c11: the stores at these labels have no fence; death: the kernel's has none",
     .kind = OPTION_CALL,
     .take = check_take_unfenced,
     .takes = "up to 8 labels of the protocol's text, as in B,D",
     .only = FOR_REGISTERS},
    {.names = {"relax"},
     .argument = "LIST",
     .help = "c11: the accesses at these labels are relaxed; death: the kernel's store is",
     .kind = OPTION_CALL,
     .take = check_take_relaxed,
     .takes = "up to 8 labels of the protocol's text, as in B,D",
     .only = FOR_REGISTERS},
    {.names = {"lost-stores"},
     .help = "with --tso: who dies may lose stores that are still in its buffer",
     .kind = OPTION_FLAG,
     OPTION_AT(struct check_words, model.lost_stores),
     .only = FOR_REGISTERS},
    {.names = {"no-reduction"},
     .help = "numbers as they are, not made small: for comparison, with --passages",
     .kind = OPTION_FLAG,
     OPTION_AT(struct check_words, model.unreduced),
     .only = FOR_REGISTERS},
    {.names = {"random"},
     .argument = "RUNS",
     .help = "not all schedules, but RUNS random ones",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = UINT32_MAX,
     OPTION_AT(struct check_words, sample.runs),
     .only = FOR_REGISTERS},
    {.names = {"pct"},
     .argument = "D",
     .help = "with --random: PCT schedules of depth D",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = 16,
     OPTION_AT(struct check_words, sample.depth),
     .only = FOR_REGISTERS},
    {.names = {"steps"},
     .argument = "N",
     .help = "of each random run",
     .standard = "10000",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = UINT32_MAX,
     OPTION_AT(struct check_words, sample.steps),
     .only = FOR_REGISTERS},
    {.names = {"seed"},
     .argument = "S",
     .help = "of the first random run; the same seed is the same run",
     .standard = "1",
     .kind = OPTION_NUMBER,
     .most = UINT64_MAX - UINT32_MAX,
     OPTION_AT(struct check_words, sample.seed),
     .only = FOR_REGISTERS},
    {.names = {"victim"},
     .argument = "P",
     .help = "judge lockout and reliability of the process at this place alone",
     .kind = OPTION_CALL,
     .take = check_take_victim,
     .takes = "a place from 0 to 7",
     .only = FOR_REGISTERS},
    {.names = {"interval"},
     .argument = "P",
     .help = "of admission: so many steps of everybody are a round",
     .standard = "those of the longest doorway",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = 100,
     OPTION_AT(struct check_words, interval),
     .only = FOR_REGISTERS},
    {.heading = "Of message protocols",
     .names = {"requests"},
     .argument = "R",
     .help = "of each node: bounds the numbers, and so the states; 0 is no bound (lamport and "
             "ricart-agrawala), and fences are not judged then; of a link: messages each way",
     .standard = "2; 1 of a link",
     .kind = OPTION_NUMBER,
     .most = 9,
     OPTION_AT(struct check_words, messages.requests),
     .only = FOR_MESSAGES | FOR_LINK},
    {.names = {"network"},
     .argument = "ORDER",
     .help = "in which order messages arrive",
     .standard = "what the protocol needs; agreed if nodes come and go, fifo with --links",
     .kind = OPTION_CHOICE,
     .list = network_at,
     OPTION_AT(struct check_words, messages.channels),
     .only = FOR_MESSAGES},
    {.names = {"links"},
     .help = "two planes: changes of the group in one order, installed by each node at its own "
             "moment; messages over links, beside them",
     .kind = OPTION_FLAG,
     OPTION_AT(struct check_words, messages.links),
     .only = FOR_MESSAGES},
    {.names = {"crashes"},
     .argument = "C",
     .help = "how many nodes crash, in all",
     .standard = "0",
     .kind = OPTION_NUMBER,
     .most = 6,
     OPTION_AT(struct check_words, messages.crashes),
     .only = FOR_MESSAGES},
    {.names = {"joins"},
     .argument = "J",
     .help = "how many of the dead come back",
     .standard = "0",
     .kind = OPTION_NUMBER,
     .most = 6,
     OPTION_AT(struct check_words, messages.joinings),
     .only = FOR_MESSAGES},
    {.names = {"deaths"},
     .argument = "D",
     .help = "with --links, of carvalho-roucairol: how many users die inside, in all",
     .standard = "0",
     .kind = OPTION_NUMBER,
     .most = 6,
     OPTION_AT(struct check_words, messages.deaths),
     .only = FOR_MESSAGES},
    {.names = {"connections"},
     .argument = "C",
     .help = "of a link: how many are made, in all",
     .standard = "2",
     .kind = OPTION_NUMBER,
     .most = LINK_CONNECTIONS_MOST,
     OPTION_AT(struct check_words, link.connections),
     .only = FOR_LINK},
    {.heading = "How far, and what is written",
     .names = {"memory"},
     .argument = "SIZE",
     .help = "use at most so much, with K, M or G",
     .standard = "4G",
     .kind = OPTION_SIZE,
     .least = 16 << 20,
     .most = (uint64_t)1 << 46,
     .takes = "a size of 16M or more, as in 512M or 4G",
     OPTION_AT(struct check_words, limits.memory)},
    {.names = {"compact"},
     .help = "keep nothing but the states, 7 to 11 bytes each: with --property exclusion, or "
             "others that a state shows",
     .kind = OPTION_FLAG,
     OPTION_AT(struct check_words, limits.compact)},
    {.names = {"states"},
     .argument = "N",
     .help = "end after so many states",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = STATE_NONE - 1,
     OPTION_AT(struct check_words, limits.states)},
    {.names = {"seconds"},
     .argument = "S",
     .help = "end after so long",
     .kind = OPTION_REAL,
     .least = 1,
     .most = 1000000,
     OPTION_AT(struct check_words, limits.seconds)},
    {.names = {"svg"},
     .argument = "FILE",
     .help = "draw the first counterexample as a space-time diagram",
     .kind = OPTION_TEXT,
     OPTION_AT(struct check_words, svg),
     .offer = OFFER_FILES},
    {.names = {"json"},
     .help = "print the answer as JSON: docs/json.md",
     .kind = OPTION_FLAG,
     OPTION_AT(struct check_words, json)},
    {.names = {"list"},
     .help = "name the protocols, and the broken ones",
     .kind = OPTION_FLAG,
     OPTION_AT(struct check_words, list)},
    {0},
};

static const struct option_place places[] = {{.from = 1, .to = 1, .list = check_protocol_at}};

const struct option_table check_options = {
    .command = "check",
    .usage =
        "usage: afteryou check PROTOCOL [OPTION…]\n"
        "Tries every interleaving of a protocol, with death after any step, or every order in\n"
        "which messages can arrive, every crash and every joining; and tells what holds.",
    .remarks =
        "Exit status: 0 all that is promised holds; 1 something is broken; 2 a limit was met\n"
        "first; 125 usage.",
    .rows = rows,
    .wrong = EXIT_USAGE,
    .places = places,
    .places_count = 1,
};

int check_words_parse(int count, char **words, struct check_words *asked)
{
    *asked = (struct check_words){
        .model = {.deaths = true, .express = true, .room = WATCH_MOST, .lag = LAG_ANY},
        .messages = {.requests = 2},
        .link = {.messages = 1, .connections = 2},
        .limits = {.memory = (size_t)4 << 30},
        .sample = {.steps = 10000, .seed = 1},
    };
    struct option_reading reading;
    const int status = options_read(&check_options, count, words, asked, &reading);
    if (status)
        return status;
    if (asked->list)
        return option_alone(&check_options, &reading, "list") ? check_print_list() : EXIT_USAGE;
    if (reading.count != 1)
        return usage_error("check",
                           reading.count == 0
                               ? "which protocol? 'afteryou check --list' names them"
                               : "one protocol at a time; 'afteryou check --list' names them");
    asked->protocol = reading.words[0];
    asked->model.protocol = register_protocol_find(asked->protocol);
    asked->messages.variant = variant_find(asked->protocol);
    asked->link.variant = link_variant_find(asked->protocol);
    if (!asked->model.protocol && !asked->messages.variant && !asked->link.variant)
        return usage_error("check", "there is no protocol '%s'; 'afteryou check --list' names them",
                           asked->protocol);
    const char *beyond = option_beyond(&check_options, &reading,
                                       asked->model.protocol     ? FOR_REGISTERS
                                       : asked->messages.variant ? FOR_MESSAGES
                                                                 : FOR_LINK);
    if (beyond && asked->link.variant)
        return usage_error("check", "%s is what carries messages: --%s does not go with it",
                           asked->protocol, beyond);
    if (beyond)
        return usage_error("check", "%s is a protocol of %s: --%s does not go with it",
                           asked->protocol, asked->model.protocol ? "registers" : "messages",
                           beyond);
    asked->network_given = option_given(&check_options, &reading, "network");
    if (option_given(&check_options, &reading, "requests"))
        asked->link.messages = asked->messages.requests;
    asked->sample.seconds = asked->limits.seconds;
    const int settled = asked->model.protocol     ? check_settle_registers(asked)
                        : asked->messages.variant ? check_settle_messages(asked)
                                                  : check_settle_link(asked);
    return settled ? settled : check_settle_compact(asked);
}
