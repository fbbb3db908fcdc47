/* SPDX-License-Identifier: MIT */
/* What stands between the words of `afteryou check` and a search: defaults that depend on the
 * protocol, and settings that it has not got, or that contradict each other. */
#include "cli/check/check.h"
#include "cli/commands.h"

/* How many each place begins, where memory is weak, or names change, and nothing is said. */
enum { PASSAGES_C11 = 3, PASSAGES_RENAMED = 1 };

/* What no protocol's text can know: settings that it has not got, or that contradict each other. */
static const char *contradiction(const struct check_words *asked)
{
    const struct register_model *model = &asked->model;
    const struct register_protocol *protocol = model->protocol;
    if (model->converts && !protocol->convert)
        return "does not convert; --convert works with courtesy";
    if (model->converts && (model->slots > 1 || model->units || model->strangers ||
                            asked->precedence != CHECK_IN_ORDER || model->halts))
        return "converts by itself: leave -l, --units, --strangers, --precedence and --halts out";
    /* a brief look is one access here, and of a place that changes its name one needs several */
    if (model->renames && (!protocol->names || protocol->brief))
        return "knows no names; --rename works with courtesy";
    if (!model->renames && model->alike)
        return "has names with --rename only: say how often they may change";
    if (model->renames && (model->slots > 1 || model->units || model->strangers ||
                           model->converts || model->requests & 1u << REQUEST_SHARED ||
                           asked->precedence != CHECK_IN_ORDER || model->weak))
        return "is renamed by itself: leave -l, --units, --strangers, --convert, --modes, "
               "--precedence and --memory-model c11 out";
    if (model->requests & 1u << REQUEST_PROTECTED && !model->units && !model->converts)
        return "has the mode protected-write with --convert only";
    if (model->slots > 1 && !protocol->slots)
        return "has one slot; -l works with courtesy and forks";
    if (model->problem == PROBLEM_ALLOCATION && !protocol->conditions)
        return "has no conditions; --units works with region and courtesy";
    if (model->problem == PROBLEM_ALLOCATION && asked->precedence != CHECK_IN_ORDER)
        return "lets conditions decide: --units and --precedence go one at a time";
    if (model->needs > 1 && (!model->units || protocol->hold))
        return "acquires nothing one after another; --needs works with --units, of region and "
               "courtesy";
    if (model->needs > model->units && model->needs > 1)
        return "can never get so many units; lower --needs, or raise --units";
    if (model->banker && model->needs < 2)
        return "needs no banker: --banker goes with --needs 2 or more";
    if (model->some_rivals && model->problem == PROBLEM_ALLOCATION)
        return "allocates among all: --rivals does not go with --units";
    for (unsigned place = 0; model->some_rivals && place < PROCESSES_MOST; place++)
        if (model->rivals[place] && place >= model->places)
            return "has fewer places than --rivals names; raise -n";
    if (model->some_rivals && protocol->normalise && !model->unreduced)
        return "has numbers that grow: --rivals goes with --no-reduction and --passages";
    if (model->timeouts && (!model->halts || !protocol->domain || model->malfunction))
        return "times nobody out; --timeouts goes with --halts, of pair, races and clock";
    if (model->errors && !protocol->fragile)
        return "is not meant for errors; --errors works with bakery-repairing, bakery-recovering "
               "and bakery-fragile";
    if (asked->victim &&
        (asked->victim >> model->places || (model->alive && !(model->alive & asked->victim))))
        return "has nobody at the place that --victim names";
    if (asked->properties >> PROPERTY_ADMISSION & 1 && !protocol->in_turn)
        return "does not say whose turn it is; --property admission works with bakery, region "
               "and network";
    if (asked->properties >> PROPERTY_RECOVERY & 1 && !model->errors)
        return "has nothing to recover from; --property recovery goes with --errors";
    if (model->requests & 1u << REQUEST_SHARED && !protocol->modes)
        return "has no modes; --modes works with bakery, region and courtesy";
    if ((model->writers_first || model->by_priority) && !protocol->priorities)
        return "has no precedence but its own; --precedence works with region and courtesy";
    if (model->slots > 1 && (model->writers_first || model->by_priority || model->overtake) &&
        protocol->sleeps)
        return "gives its slots in order: --precedence and --overtake are for one slot";
    if ((model->room < WATCH_MOST || model->strangers) && !protocol->sleeps)
        return "watches nobody in its sleep; --watch and --strangers work with courtesy";
    if (model->strangers && protocol->withdrawn)
        return "gives its right back before its place passes on: leave --strangers out";
    if (model->malfunction && !protocol->domain)
        return "is not meant for malfunction; --malfunction works with pair, races, clock, region "
               "and bakery-words";
    if (model->lost_stores && !(model->tso && model->deaths))
        return "takes --lost-stores only with --tso, and where somebody dies";
    if (model->stopped && !protocol->stop)
        return "has no list of ways to stop; --stopped works with forks";
    if (model->stopped_late && !model->stopped)
        return "takes --late only with --stopped PLACE:HOW";
    if (model->stopped >> model->places)
        return "has fewer places than --stopped names; raise -n";
    for (unsigned place = 0; place < model->places; place++)
        if (model->stopped >> place & 1 && model->stopped_how[place] >= protocol->stops(model))
            return "cannot have stopped in so many ways; lower the HOW of --stopped";
    if (model->fences && (!protocol->fence || model->slots > 1 ||
                          !(model->requests == 1u << REQUEST_EXCLUSIVE ||
                            (!model->requests && !protocol->default_requests) ||
                            (model->converts && !(model->requests >> REQUEST_PROTECTED & 1)) ||
                            model->problem == PROBLEM_ALLOCATION)))
        return "has no fences that can be judged here; --fences works with bakery and courtesy, "
               "one slot, --modes exclusive or two modes and --convert";
    if (protocol->hold && !model->units)
        return "is about units; say how many there are with --units";
    if (model->alive >> model->places)
        return "has fewer places than --alive names; raise -n";
    if (asked->properties >> PROPERTY_COUNT)
        return "is a protocol of registers: fence, fairness and what follows them are judged of "
               "message protocols";
    if (asked->sample.depth && !asked->sample.runs)
        return "takes --pct only with --random RUNS";
    return NULL;
}

/* What the memory of C11 is not modelled for. */
static const char *contradiction_c11(const struct check_words *asked)
{
    const struct register_model *model = &asked->model;
    const struct register_protocol *protocol = model->protocol;
    if (!model->weak)
        return model->weakened_count || asked->model.lag != LAG_ANY
                   ? "takes --no-fence, --relax and --lag with --memory-model c11 only"
                   : NULL;
    if (protocol->bits || protocol->asked_at || protocol->alarms)
        return "is not of atomic words alone: --memory-model c11 is not for it";
    if (protocol->withdrawn)
        return "has registers with two writers: --memory-model c11 is not for it";
    if (protocol->checks_draws || model->malfunction || model->strangers || model->errors ||
        model->some_rivals)
        return "cannot be judged so with --memory-model c11: leave --malfunction, --errors, "
               "--strangers and --rivals out";
    if (protocol->sleeps &&
        (model->requests & 1u << REQUEST_SHARED || model->writers_first || model->by_priority))
        return "does not keep its mode in its word: with --memory-model c11 all are exclusive";
    if (asked->properties & (1u << PROPERTY_QUIET | 1u << PROPERTY_GIVING_UP | 1u << PROPERTY_ABLE |
                             1u << PROPERTY_PRECEDENCE | 1u << PROPERTY_DOORWAY))
        return "is judged for exclusion, reached, progress, lockout, reliability, order and "
               "overtaking with --memory-model c11";
    return NULL;
}

/* Where places are not taken for one another. */
static const char *contradiction_symmetry(const struct check_words *asked)
{
    const struct register_model *model = &asked->model;
    if (!asked->symmetric)
        return NULL;
    if (!model->protocol->cursor || model->protocol->asking)
        return "has places that differ: --symmetry works with bakery and courtesy";
    if (model->places > SYMMETRY_PLACES)
        return "has too many places for --symmetry, which takes up to 5";
    if (model->slots > 1 || model->units || model->converts || model->renames || model->weak ||
        model->fences || model->unreduced || model->alive || model->some_rivals || model->halts ||
        asked->sample.runs)
        return "takes --symmetry without -l, --units, --convert, --rename, --memory-model c11, "
               "--fences, --no-reduction, --alive, --rivals, --halts and --random";
    return NULL;
}

static void set_memory_model(struct check_words *asked)
{
    struct register_model *model = &asked->model;
    model->tso = asked->memory_model == CHECK_TSO;
    model->weak = asked->memory_model == CHECK_C11;
    model->weakened = asked->weakened;
    model->apart = model->protocol->device;
    for (unsigned at = 0; at < model->weakened_count; at++)
        model->apart |= model->weakened[at].relaxed;
    /* A thread that idles may see what was stored long ago: lists grow with every passage. */
    if (model->weak && !model->passages && model->lag == LAG_ANY)
        model->passages = PASSAGES_C11;
    if (model->weak && model->protocol->device)
        model->lag = 0;
    const unsigned asks = asked->properties ? asked->properties : check_promises(model);
    model->catches_up = model->weak && asks & (1u << PROPERTY_LOCKOUT | 1u << PROPERTY_RELIABILITY);
}

/* What was asked for, in the words of the model. */
static bool set_modes(struct check_words *asked)
{
    enum {
        EXCLUSIVE = 1u << AY_EXCLUSIVE,
        SHARED = 1u << AY_SHARED,
        PROTECTED = 1u << AY_PROTECTED_WRITE
    };
    if (asked->modes >> CHECK_BOTH & 1 || (asked->model.converts && !asked->modes))
        asked->modes |= EXCLUSIVE | SHARED;
    asked->modes &= ~(1u << CHECK_BOTH);
    asked->model.requests = (asked->modes & EXCLUSIVE ? 1u << REQUEST_EXCLUSIVE : 0) |
                            (asked->modes & SHARED ? 1u << REQUEST_SHARED : 0) |
                            (asked->modes & PROTECTED ? 1u << REQUEST_PROTECTED : 0);
    asked->model.writers_first = asked->precedence == CHECK_WRITERS_FIRST;
    asked->model.by_priority = asked->precedence == CHECK_PRIORITY;
    return !(asked->modes & ~(unsigned)(EXCLUSIVE | SHARED | PROTECTED));
}

static int settle_registers(struct check_words *asked)
{
    struct register_model *model = &asked->model;
    const struct register_protocol *protocol = model->protocol;
    model->places = asked->count;
    if (!model->places)
        model->places = protocol->default_places ? protocol->default_places : 3;
    if (model->places < protocol->places_least || model->places > protocol->places_most)
        return protocol->places_least == protocol->places_most
                   ? usage_error("check", "%s takes %u places, not %u", protocol->name,
                                 protocol->places_least, model->places)
                   : usage_error("check", "%s takes %u to %u places here, not %u", protocol->name,
                                 protocol->places_least, protocol->places_most, model->places);
    if (!set_modes(asked))
        return usage_error("check",
                           "%s is a protocol of registers: --modes takes exclusive, shared or "
                           "both, and with --convert protected-write",
                           protocol->name);
    if (model->units) {
        model->problem = PROBLEM_ALLOCATION;
        model->requests = 1u << REQUEST_EXCLUSIVE |
                          (model->units > 1 && model->needs < 2 ? 1u << REQUEST_TWO : 0) |
                          (protocol->hold ? 0 : 1u << REQUEST_RELEASE);
    }
    if (model->by_priority)
        model->requests = 1u << REQUEST_EXCLUSIVE | 1u << REQUEST_URGENT;
    set_memory_model(asked);
    if (protocol->naming && !model->renames)
        model->renames = 1; /* else it would be courtesy */
    /* who has another name draws numbers without regard to mine: nothing bounds their distance */
    if (model->renames && !model->passages)
        model->passages = PASSAGES_RENAMED;
    const char *wrong = contradiction(asked);
    if (!wrong)
        wrong = contradiction_c11(asked);
    if (!wrong)
        wrong = contradiction_symmetry(asked);
    if (wrong)
        return usage_error("check", "%s %s", protocol->name, wrong);
    model->symmetry = asked->symmetric ? &asked->symmetry : NULL;
    return register_model_open(model)
               ? usage_error("check", "%s cannot be checked with these settings", protocol->name)
               : 0;
}

/* What is asked of each state or move, and what of the whole graph. */
static bool set_properties(struct check_words *asked)
{
    const unsigned graph = 1u << PROPERTY_PROGRESS | 1u << PROPERTY_LOCKOUT,
                   always = 1u << PROPERTY_SAFETY | 1u << PROPERTY_REACHED,
                   of_registers = (1u << PROPERTY_COUNT) - 1;
    if (!asked->properties) {
        asked->properties = CHECK_MESSAGES_PROMISES;
        return true;
    }
    if (asked->properties & of_registers & ~(graph | always))
        return false;
    asked->messages.judged = asked->properties >> PROPERTY_COUNT << 1;
    if (asked->properties & 1u << PROPERTY_SAFETY || !asked->messages.judged)
        asked->messages.judged |= 1u << MESSAGES_EXCLUSION;
    asked->properties = (asked->properties & graph) | always;
    return true;
}

static int settle_messages(struct check_words *asked)
{
    struct messages_options *options = &asked->messages;
    const struct variant *variant = options->variant;
    options->nodes = asked->count ? asked->count : 2;
    if (options->nodes < 2 || options->nodes > MODEL_NODES_MOST)
        return usage_error("check", "%s takes 2 to %d nodes here, not %u", variant->name,
                           MODEL_NODES_MOST, options->nodes);
    if (!set_properties(asked))
        return usage_error("check",
                           "%s is a protocol of messages: of the properties of registers it has "
                           "exclusion, progress, lockout and reached",
                           variant->name);
    if (options->joinings > options->crashes)
        return usage_error("check",
                           "%u cannot come back if %u crash: --crashes says how many do, at least "
                           "as many as --joins",
                           options->joinings, options->crashes);
    options->modes =
        asked->modes >> CHECK_BOTH & 1 ? 1u << AY_EXCLUSIVE | 1u << AY_SHARED : asked->modes;
    options->units = asked->model.units;
    options->converts = asked->model.converts || variant_needs_conversions(variant);
    options->ranked = asked->precedence == CHECK_PRIORITY || variant_needs_ranks(variant);
    if (asked->precedence == CHECK_WRITERS_FIRST)
        return usage_error("check", "%s has ranks that any request may have: --precedence priority",
                           variant->name);
    options->links |= variant_needs_links(variant) || options->units;
    if (!asked->network_given)
        options->channels = options->links                               ? CHANNELS_FIFO
                            : options->crashes || options->joinings      ? CHANNELS_AGREED
                            : variant->protocol->fifo || options->ranked ? CHANNELS_FIFO
                                                                         : CHANNELS_REORDERED;
    return 0;
}

/* Whether --compact and --symmetry go with the properties that are asked for. */
static int settle_properties(const struct check_words *asked)
{
    const unsigned asks = asked->properties ? asked->properties : ~0u;
    if ((asks & ((1u << PROPERTY_COUNT) - 1) & ~PROPERTIES_OF_STATES) == 0)
        return 0;
    if (asked->symmetric)
        return usage_error("check", "--symmetry lets places change, and nobody can be followed: "
                                    "it takes --property exclusion, or others that a state shows");
    return asked->limits.compact
               ? usage_error("check", "--compact keeps the states, and not where they lead: it "
                                      "takes --property exclusion, or others that a state shows")
               : 0;
}

static int settle_link(struct check_words *asked)
{
    if (asked->count && asked->count != 2)
        return usage_error("check", "a link has 2 ends, not %u", asked->count);
    if (asked->modes || asked->properties)
        return usage_error("check", "a link has neither modes nor properties to choose from");
    if (asked->link.messages < 1 || asked->link.messages > LINK_MESSAGES_MOST)
        return usage_error("check", "each end of a link says 1 to %d messages here, not %u",
                           LINK_MESSAGES_MOST, asked->link.messages);
    return 0;
}

int check_find(struct check_words *asked)
{
    asked->model.protocol = register_protocol_find(asked->protocol);
    asked->messages.variant = variant_find(asked->protocol);
    asked->link.variant = link_variant_find(asked->protocol);
    if (asked->model.protocol || asked->messages.variant || asked->link.variant)
        return 0;
    return usage_error("check", "there is no protocol '%s'; 'afteryou check --list' names them",
                       asked->protocol);
}

int check_settle(struct check_words *asked)
{
    asked->sample.seconds = asked->limits.seconds;
    const int settled = asked->model.protocol     ? settle_registers(asked)
                        : asked->messages.variant ? settle_messages(asked)
                                                  : settle_link(asked);
    return settled ? settled : settle_properties(asked);
}
