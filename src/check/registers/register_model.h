/* SPDX-License-Identifier: MIT */
/* A register protocol as a system to search: processes that begin, pass, leave, give up, die and
 * return.
 *
 * A state is a part for each live place: where its process is, the passage's own struct, and what
 * the place has public: its words, its safe bits and, under TSO, the stores that others do not see
 * yet. Places that nobody ever uses are not in the state: their words read as dead. A live place's
 * number in the search is its `process`.
 */
#ifndef AFTERYOU_CHECK_REGISTERS_REGISTER_MODEL_H
#define AFTERYOU_CHECK_REGISTERS_REGISTER_MODEL_H

#include "check/registers/accesses.h"
#include "check/search/system.h"

enum { BUFFER_MOST = 8, REQUESTS_MOST = 8, CONVERSIONS_MOST = 2 };

/* The record of a process, in front of its passage's struct. */
struct model_process {
    uint8_t part : 4;    /* enum part */
    uint8_t held : 3;    /* what it acquired and keeps between passages: the allocation problem */
    uint8_t halted : 1;  /* stopped for ever, undetectably */
    uint8_t request : 3; /* which request it serves */
    uint8_t begun : 5;   /* passages begun, where they are limited */
    /* the mode that it converts to, or converted to last in this passage; the name that it takes */
    uint8_t target : 2;
    uint8_t converted : 2; /* how often it has, in this passage: CONVERSIONS_MOST at most */
    uint8_t named : 4;     /* names that it has taken */
    union {
        uint16_t writing; /* a safe bit is being written: its index + 1 */
        /* where fences are judged, process 0 keeps the greatest so far, and the next one that of
         * another name, or of those that share: see model_fence */
        uint16_t fence;
    };
};

enum part {
    PART_IDLE,
    PART_ENTERING,
    PART_INSIDE,
    PART_CONVERTING, /* inside, and changes its mode */
    PART_STAYING,    /* inside, and has given that up */
    PART_PARTING,    /* leaves, but keeps the units it chose inside */
    PART_HOLDING,
    PART_LEAVING,
    PART_MALFUNCTION,
    PART_NAMING /* outside, and changes its name; or claims a place */
};

/* A store that others do not see yet. */
struct buffered {
    uint16_t index;
    word value;
};

struct buffer {
    uint16_t count;
    struct buffered store[BUFFER_MOST];
};

/* What a protocol is to the checker; one constant per protocol and per mutant, in models/. */
struct naming_without;
struct symmetry;
struct register_protocol {
    const char *name;
    const char *summary;
    unsigned places_least, places_most;
    size_t passage_size;
    unsigned (*words)(unsigned places); /* registers of a place; NULL: one */
    unsigned (*bits)(unsigned places);  /* safe bits of a place; NULL: none */
    enum passage_result (*enter)(void *my, struct registers *at);
    enum passage_result (*leave)(void *my, struct registers *at);

    /* All below may be NULL. */
    enum passage_result (*hold)(void *my,
                                /* leaves, but keeps its units; then `leave` gives them back */
                                struct registers *at);
    /* inside, changes its mode; and gives that up. Whether the former makes it weaker, which its
     * first access does; and whether it was refused */
    enum passage_result (*convert)(void *my, struct registers *at);
    enum passage_result (*stay)(void *my, struct registers *at);
    bool (*weakens)(const struct registers *at);
    bool (*refused)(const void *my);
    /* what a register becomes when its owner dies; NULL: 0 */
    word (*dead)(unsigned index, word value);
    bool (*dead_bit)(unsigned index, bool value); /* likewise a safe bit; NULL: false */
    /* register 0 shows that its owner takes part; NULL: not 0 */
    bool (*active)(word first);
    unsigned (*domain)(const struct registers *at, unsigned index, unsigned value, word *out);
    /* malfunction: how many values register `index` may read as, and the value-th of them */
    void (*reborn)(struct registers *at); /* a process returns after it died */
    void (*normalise)(const struct register_model *model, unsigned char *state);
    const char *(*invariant)(const struct register_model *model, const unsigned char *state);
    /* D3: false if `i` may not enter while `j` is queued */
    bool (*in_turn)(const struct register_model *model, const unsigned char *state, unsigned i,
                    unsigned j);
    word (*fence)(word first); /* the fence, place aside, of one that has entered with this word */
    /* a word, for people */
    void (*write_value)(unsigned index, word value, char *text, size_t room);
    const char *(*name_register)(unsigned places, unsigned place, unsigned index, char *text,
                                 size_t room);
    unsigned default_requests; /* a bit each; 0: only request 0 */
    unsigned default_places;   /* for the command line; 0: 3 */
    unsigned promises;         /* a bit for each enum property, beyond safety and progress */
    /* in how many ways a process may have stopped */
    uint64_t (*stops)(const struct register_model *model);
    void (*stop)(const struct register_model *model, unsigned char *state, unsigned who,
                 uint64_t how);
    bool slots, modes, conditions, priorities;
    bool names; /* its places may change their names; its numbers are what `fence` tells */
    /* uses RECALL: register 0 once the permission that it shows is taken back; the same if it shows
     * none */
    word (*withdrawn)(word first);
    /* mutants: ROUSE does nothing; whoever came first goes first, whatever the precedence */
    bool rouses_nobody, knows_no_precedence;
    /* a passage is an operation, which excludes nobody; and nobody dies */
    bool operations;
    /* whether a process may begin a passage with this request; NULL: whatever is asked for */
    bool (*may_begin)(const struct register_model *model, const unsigned char *state,
                      unsigned process, unsigned request);
    bool endless;     /* the passages of all but the last place never end */
    unsigned fragile; /* so many of its first words may be hit by errors */
    /* one outside its passage looks after so many of its first words: after an error they become
     * what they are after a death */
    unsigned repairs;
    /* C11: the first access of a passage is a WRITE; asserted at every beginning */
    bool begins_with_write;
    /* C11: its registers lie in device memory, which keeps their accesses in order, and those
     * alone; it has barriers of its own */
    bool device;
    bool sleeps; /* uses SLEEP and WAKE */
    bool brief;  /* looks at words alone first, as engines do: NONE_ABOVE and its like (brief.c) */
    /* passages are asks: who would sleep rests, and a helper watches (asks.c) */
    enum asking {
        ASKS_NOT,
        ASKS,
        ASKS_LINKING_LATE,  /* a mutant: looks before it is linked */
        ASKS_DRAINING_LATE, /* a mutant: finds nothing decided, and later reads the descriptor */
        ASKS_HINTED,        /* who leaves makes the descriptor readable, or wakes the helper */
        ASKS_HINTS_ALONE    /* a mutant: makes it readable, if it can */
    } asking;
    bool alarms;     /* uses AWAKE: one that dies sets everybody's alarm */
    size_t asked_at; /* uses ASK: where its passage keeps `asked`; 0: it does not */
    /* its last register notes the greatest number it drew: numbers are checked against them */
    bool checks_draws;
    /* symmetry.h: the cursor of the scan that a passage is in, and the point where that stops;
     * NULL: it is in no part that scans. The numbers by which a place is compared with others, a
     * bit each. Permutes the places that a passage remembers, but for that cursor; `rank` NULL:
     * forgets them. The labels of the accesses by which a scan looks at a place for the first time.
     * Brings each process on to where it may as well stand, if safety alone is asked; NULL: where
     * it stands. */
    place_number *(*cursor)(void *my, unsigned *point);
    uint64_t (*numbers)(const struct register_model *model, const unsigned char *state,
                        unsigned place);
    void (*relabel)(void *my, unsigned places, const uint8_t *rank);
    const char *const *firsts;
    void (*hasten)(const struct register_model *model, unsigned char *state);
    /* a mutant: without this part of naming.h */
    const struct naming_without *naming;
    /* the property that must be found broken: a mutant, or a published error */
    const char *refutes;
};

/* The modes that a passage may be converted to: requests 0 to 2. */
enum { MODEL_MODES = 3 };

enum problem { PROBLEM_EXCLUSION, PROBLEM_ALLOCATION };

/* Who has stopped for ever is timed out: a read of its words finds what they are after a death. */
enum timeouts {
    TIMEOUTS_NONE,
    TIMEOUTS_RIGHT, /* nobody else is */
    TIMEOUTS_WRONG  /* and so may be whoever is slow */
};

/* Transient errors: a public word of a process becomes anything of its domain. */
enum errors {
    ERRORS_NONE,
    ERRORS_WAITING, /* of one that waits in the queue */
    ERRORS_ANYWHERE
};

/* C11: an access that is weaker than the text says, for the checker to refute: the WRITE at that
 * label lacks its fence, or whatever stands there is relaxed. `death` is the kernel's. */
enum { WEAKENED_MOST = 8, LABEL_ROOM = 24 };
struct weakening {
    char label[LABEL_ROOM];
    bool relaxed;
    bool met; /* set by the search as soon as there is such an access */
};

struct register_model {
    struct system system;
    struct system exact; /* where `symmetry` is set: the system without it */
    const struct register_protocol *protocol;
    unsigned places;
    unsigned words, bits; /* per place */
    /* bytes of a live place: record, passage, words, bits, buffer, in this order */
    size_t stride;
    size_t words_at, bits_at, buffer_at, naming_at;
    uint8_t process_of[PROCESSES_MOST]; /* by place; PLACE_UNUSED where nobody lives */
    uint8_t place_of[PROCESSES_MOST];   /* by process */

    /* C11 (weak.h): messages of a register at most; registers of all places; bytes of a view */
    uint8_t history_most;
    unsigned registers;
    size_t view_size;
    size_t weak_at, histories_at; /* beyond the buffer */

    bool deaths, aborts, malfunction, tso;
    bool lost_stores; /* TSO: a death may overtake what is in the buffer */
    bool weak;        /* the memory of C11 */
    /* C11: how many messages a thread may be behind; LAG_ANY: as far as a list has room */
    unsigned lag;
    /* C11: a move by which a thread comes to all there is: starvation is asked for, and what is
     * stored must be seen in the end */
    bool catches_up;
    bool apart; /* with accesses that are relaxed: what fences are to publish is kept apart */
    struct weakening *weakened;
    unsigned weakened_count;
    unsigned halts; /* how many may stop for ever, undetectably */
    /* a bit each: places whose processes stopped so before the beginning */
    unsigned stopped;
    uint64_t stopped_how[PROCESSES_MOST]; /* by place: which of the protocol's ways to stop */
    bool stopped_late;                    /* and the others had passed their doorways by then */
    unsigned slots;                       /* how many may be inside */
    unsigned alive;                       /* a bit each: the places that take part; 0: all */
    unsigned requests;                    /* a bit each: what a process may ask for */
    enum problem problem;
    unsigned units; /* the allocation problem's |T| */
    unsigned needs; /* how many units each acquires, one after another; 0: one */
    bool banker;    /* a unit is given only if all can still get what they need */
    /* Con(i), by place: a bit for each place that can conflict with it */
    uint8_t rivals[PROCESSES_MOST];
    bool some_rivals; /* not everybody is everybody's rival */
    enum errors errors;
    enum timeouts timeouts; /* with halts */
    unsigned overtake;      /* the bound B */
    unsigned padding;       /* `clock` */
    unsigned room;          /* how many places a sleeper may watch */
    bool strangers;         /* a place may pass to one who is no rival, and back */
    unsigned passages;      /* how many each place may begin; 0: no limit */
    bool unreduced;         /* states as they are: without the protocol's normalise */
    bool writers_first;     /* `should precede` */
    bool by_priority;
    bool express; /* `courtesy`: its express lane is tried as well */
    /* how often a place may take another of two names, or be claimed; 0: there is one name */
    unsigned renames;
    bool alike;    /* the two names have one tag, and one count of who has come: only they differ */
    bool converts; /* who is inside may change its mode, CONVERSIONS_MOST times in a passage */
    bool fences;   /* judge that fences grow */
    struct symmetry *symmetry; /* places are taken for one another; NULL: they are not */
};

enum { PLACE_UNUSED = 0xff, LAG_ANY = UINT8_MAX };

/* register_opening.c: 0, or -EINVAL if the settings do not fit the protocol; fills in the sizes and
 * the system. */
int register_model_open(struct register_model *model);

static inline struct model_process *model_process(const struct register_model *model,
                                                  const unsigned char *state, unsigned process)
{
    return (struct model_process *)(uintptr_t)(state + process * model->stride);
}

static inline void *model_passage(const struct register_model *model, const unsigned char *state,
                                  unsigned process)
{
    return (void *)(uintptr_t)(state + process * model->stride + sizeof(struct model_process));
}

static inline word *model_words(const struct register_model *model, const unsigned char *state,
                                unsigned process)
{
    return (word *)(uintptr_t)(state + process * model->stride + model->words_at);
}

static inline struct buffer *model_buffer(const struct register_model *model,
                                          const unsigned char *state, unsigned process)
{
    return (struct buffer *)(uintptr_t)(state + process * model->stride + model->buffer_at);
}

static inline bool model_bit(const struct register_model *model, const unsigned char *state,
                             unsigned process, unsigned index)
{
    return state[process * model->stride + model->bits_at + index / 8] >> index % 8 & 1;
}

static inline void model_set_bit(const struct register_model *model, unsigned char *state,
                                 unsigned process, unsigned index, bool value)
{
    unsigned char *byte = state + process * model->stride + model->bits_at + index / 8;
    *byte = (unsigned char)((*byte & ~(1u << index % 8)) | (unsigned)value << index % 8);
}

/* Whether two requests conflict. */
static inline bool model_excludes(const struct register_model *model, unsigned a, unsigned b)
{
    if (model->converts && (a & 3) != (b & 3) && (a & 3) != REQUEST_EXCLUSIVE &&
        (b & 3) != REQUEST_EXCLUSIVE)
        return false; /* one that shares, and one that is protected */
    return request_conflict(a, b);
}

/* Inside, in the mode of its request; it may be about to change that. */
static inline bool model_is_inside(const struct model_process *process)
{
    return process->part == PART_INSIDE || process->part == PART_CONVERTING ||
           process->part == PART_STAYING;
}

/* The greatest fence so far: one above its number, and the place, of whoever entered last. 0:
 * nobody has. */
enum { FENCE_PLACE_BITS = 3 };

static inline unsigned fence_of(word number, unsigned place)
{
    return (number + 1u) << FENCE_PLACE_BITS | place;
}

static inline word fence_number(unsigned fence)
{
    return (word)((fence >> FENCE_PLACE_BITS) - 1);
}

/* Whether there are passages that do not conflict, whose fences need not grow. Only where they are
 * converted: elsewhere one that shares is no rival to one that shares, though it was when it was
 * exclusive, and an engine then keeps its number as one that was left (naming.h). */
static inline bool model_fences_by_mode(const struct register_model *model)
{
    return model->problem != PROBLEM_ALLOCATION && model->requests >> REQUEST_SHARED & 1;
}

/* How many are kept, and the one of that name; or that of the exclusive ones (0), and of those that
 * share (1). */
static inline unsigned model_fence_kinds(const struct register_model *model)
{
    return model->renames || model_fences_by_mode(model) ? 2 : 1;
}

static inline struct model_process *model_fence(const struct register_model *model,
                                                const unsigned char *state, unsigned kind)
{
    return model_process(model, state, kind);
}

/* Makes the move in place; `at` tells what access it was. True if with it the process is inside. */
bool register_model_make(const struct register_model *model, unsigned char *state, struct move move,
                         struct registers *at);

/* A step of a process that finds every other place as it was in the beginning. */
void register_model_step_blindly(const struct register_model *model, unsigned char *state,
                                 unsigned who);
/* The moves of one process. */
void register_model_moves(const struct register_model *model, const unsigned char *state,
                          struct successors *out, unsigned who);
void register_model_successors(const struct system *system, const unsigned char *state,
                               struct successors *out);

/* goals.c: what must be reached, for struct system. */
uint64_t register_model_goals(const struct register_model *model);
uint64_t register_model_reaches(const struct system *system, const unsigned char *state);
void register_model_name_goal(const struct system *system, unsigned goal, char *text, size_t room);

/* registers.c: what is done to registers from outside a passage. */
void registers_kill(struct registers *at);
void registers_drain(struct registers *at);
bool model_condition(const struct register_model *model, const unsigned char *state,
                     unsigned process);
/* The class of a request, by precedence: the least goes first. */
int model_class(const struct register_model *model, unsigned request);

static inline bool model_rivals(const struct register_model *model, unsigned place, unsigned other)
{
    return model->rivals[place] >> other & 1;
}

/* conversions.c: one access of a process that changes its mode, or gives that up. */
void model_convert(struct registers *at);

/* errors.c: how many errors can hit this process, and the which-th of them. */
unsigned errors_count(const struct register_model *model, unsigned char *state, unsigned process);
void errors_strike(struct registers *at, unsigned which);
/* Whether it is outside, and its words are not what they should be there; and makes them so. */
bool errors_linger(const struct register_model *model, const unsigned char *state,
                   unsigned process);
void errors_repair(struct registers *at);

#endif
