/* SPDX-License-Identifier: MIT */
/* What an open region keeps, grouped by how long it holds. A group is assigned whole when its time
 * begins:
 *
 *   group        from                        until              assigned by
 *   near, fixed  ay_region_open()            ay_region_close()  begin_registers()
 *   lane         ay_region_open()            ay_region_close()  each step of a passage
 *   passer       another thread enters       the next one does  ay__passer_change()
 *   mine         the place is claimed        it is closed       begin_registers()
 *   retention    a permission is retained    it is given back   leave(), and the protocol
 *   rivals       whoever it is is met        it is met anew     ay__meet(), ay__gather()
 *   habits       a passage taught it         another did        none: a habit is learnt
 *   request      ay_enter_when(), …_unless(), …_as()   they return    themselves
 *   passage      the long way begins         it ends            enter()
 *   waiting      its first sleep             its last           ay__begin_waiting()
 *   remote       the cluster permits         it ends            remote/
 *
 * Only the thread that enters touches them, but for what says otherwise. For each flag: who sets
 * it, who clears it, and what must never be.
 */
#ifndef AFTERYOU_MEMORY_PASSAGE_STATE_H
#define AFTERYOU_MEMORY_PASSAGE_STATE_H

#include "memory/courtesy/lane.h"
#include "memory/memory.h"
#include "memory/passage/acquaintance.h"
#include "memory/passage/protocol.h"
#include "memory/remote/side.h"
#include "protocols/language/registers.h"

/* Fixed while the region is open: what the short ways fetch. */
struct fixed_near {
    uint64_t mark;                  /* of the process that opened it */
    struct hot *own;                /* writable */
    const _Atomic uint64_t *claims; /* of its name, or the space's (L6) */
    bool cluster;                   /* space->cluster */
    bool plain;       /* the lane may ever be open: nothing of the region is out of the ordinary */
    bool idle_shows;  /* by the top bit of register 0 (`courtesy`) */
    bool every_place; /* the protocol has FEATURE_EVERY_PLACE */
    /* ay_mode of the present passage; the one here that is not fixed. That of the spec, unless
     * ay_enter_as() asked for a weaker one, or ay_convert() changed it; and that again once it has
     * left. While the lane is open it is the spec's */
    uint8_t mode;
};

/* Fixed likewise: the rest. */
struct fixed {
    unsigned self, places;
    size_t granule;        /* the space's */
    const char *base;      /* the file, read-only */
    const char *registers; /* of place 0, there */
    struct cold *own_cold; /* writable, as is own_page */
    struct registers_page *own_page;
    const struct public_spec *spec;
    const struct running_protocol *protocol;
    ay_space *space;
    const _Atomic uint32_t *used;   /* the space's (L2) */
    const _Atomic uint32_t *rouses; /* the space's */
    uint64_t name;                  /* its hash; 0: it has several */
    uint64_t tags;                  /* its tag, as a pattern; 0: it looks at every place */
    /* what others have left behind who had its name, or one like it (L9); NULL: it looks at every
     * place */
    const _Atomic uint64_t *floor;
    word waits, waits_mask; /* of a word that only waits: see registers_waits() */
    bool reentrant;         /* a thread that is inside may enter again */
    bool tells;             /* the space's descriptor says that it is wanted: wanted.c */
};

/* The thread that enters, or entered last. */
struct passer {
    uint64_t thread; /* 0: none yet, or it is to say anew who it is */
    /* of that thread, or of who goes on with its ask (ay__passer_visit): see named.h */
    volatile uint64_t *undisturbed;
    /* of the same, when it last asked whether the file has a name; 0: it is to ask */
    uint64_t breaks;
};

/* What I wrote to my own place, where only I look. */
struct mine {
    word word;        /* what own->word holds, but for what the keeper takes back (recall.c) */
    uint32_t passage; /* the number of the present one, or the last */
    uint32_t sleeps;  /* ever, of all owners of the place */
};

/* A permission that stays after leaving: protocols/registers/courtesy/courtesy_retain.h. */
struct retention {
    /* which permission it has now; 0: none. Its protocol sets and clears it. The keeper reads it,
     * under the mutex. Never set unless `may`. */
    _Atomic uint32_t grant;
    /* its keeper sleeps on its `recalled`: one of RETAINED_MOST of this process. Set when the
     * region is opened, for good */
    bool may;
    /* this time, leaves with its permission if nobody is about. Set by ay__retention_decide();
     * cleared when the place is renewed, and when the permission is lost. Never set unless `may` */
    bool wanted;
    bool recalled; /* ever. Set when a recall is found; never cleared */
};

/* Tests are built with fewer, too. */
#ifndef FEW_SLOTS
#define FEW_SLOTS 8
#endif

enum { RIVALS_FEW = 4 };

/* Who the rivals are. */
struct rivals {
    uint64_t gathered;    /* what `claims` was then; NEVER_GATHERED: they are to be gathered */
    struct stretch *runs; /* all rivals, as gathered then: in `few`, at first */
    unsigned run_count;
    unsigned company_count; /* gathered likewise */
    /* the greatest number found at a place when its owner changed or died; it never falls */
    uint64_t floor;
    /* somebody died inside, or left such a death behind: see after entering. Set by ay__meet(),
     * and with the place's inheritance when that is claimed or renewed; cleared by
     * ay__deaths_attend(), once it has found no more */
    bool news;
    /* to here, two lines from the beginning of `near`; the short ways need no more */
    bool burdened; /* among the runs are places whose owners are gone. ay__gather() says which */
    /* one was met that is to be told that it is wanted. Set by ay__meet(); never cleared */
    bool told;
    /* a death inside was found, or one that was left behind. Set by ay__meet(), cleared by who
     * hands on what it knows (ask/knowledge.c) */
    bool heard;
    uint64_t deaths; /* which was the last found by who knew what it took up: likewise */
    /* what is known was another's. Set by ay__acquaintances_take(), cleared by ay__gather() */
    bool taken;
    unsigned run;             /* that of the rival returned last */
    unsigned *company;        /* places of those who may be inside together with me; likewise */
    struct acquaintances met; /* in `few_met`, at first */
    uint64_t counted;         /* what `claims` was when they were last gathered */
    struct stretch few[RIVALS_FEW]; /* for so many `runs` */
    unsigned few_company[RIVALS_FEW];
    struct acquaintance few_met[FEW_SLOTS];
    unsigned run_room, company_room; /* how many there is room for now */
    char *reserve; /* addresses without memory, for what it may yet have to know */
    /* rivals whose place has another owner now, or came and went unseen; it never falls */
    uint64_t missed;
};

/* What outlives a passage, because it was so lately. */
struct habits {
    int64_t lately_ns; /* how long waits for the one inside have taken lately: spin.c */
    unsigned in_vain;  /* waits since it last spun, while they took too long for that */
    unsigned ahead;    /* how many went before it when it last waited */
    /* the place of whom it woke ahead of time, and 1; 0: nobody's. Set by ay__wake_next(), cleared
     * when it leaves; that one may be gone by then, or somebody else */
    unsigned next;
    /* it did not have to wait last time. Set or cleared at the end of every passage of the long
     * way; cleared when the lane was not free, and when the place is renewed */
    bool calm;
    /* somebody waited when it last left. Set by ay__wake(); cleared by ay__hold_back() */
    bool contended;
    bool entered; /* ever. Set by the first passage, which goes the long way; never cleared */
};

/* What the caller of ay_enter_when(), ay_enter_unless() or ay_enter_as() asks for. All 0 in other
 * calls. */
struct request {
    bool (*when)(void *);
    bool (*interrupted)(void *); /* asked after every sleep whether to give up; NULL: nobody is */
    void *argument;              /* of both */
    bool weaker;                 /* in `mode`, and not in the spec's */
    ay_mode mode;
};

enum test { TEST_NONE, TEST_ASKS, TEST_FALSE, TEST_ASLEEP, TEST_AGAIN, TEST_TRUE };

/* What a passage does once it is next, while it still waits: ay_prepare(). */
struct preparation {
    void (*prepare)(void *); /* NULL: nothing */
    void *argument;
};

/* The present passage, on the long way. */
struct this_passage {
    int64_t deadline; /* CLOCK_MONOTONIC; INT64_MIN: do not wait at all; INT64_MAX: for ever */
    int reason;       /* why it was given up: a negative errno */
    int give_up;      /* -EBUSY, -ETIMEDOUT: what to say when time is over */
    /* -ESTALE: the file was removed, and so its condition was not asked for; or 0. Set anew
     * by each ay__condition(), which then lets it in so that enter() gives up */
    int refused;
    bool conditional; /* has a `when`, or takes units. Set when it begins */
    /* on the long way, where it may watch others. Set when it begins; cleared by
     * ay__stop_waiting() */
    bool queues;
    /* it had to. Set by every wait, and by who recalls a permission; never cleared before the next
     * passage begins */
    bool waited;
    /* that is public, and `waiting` holds. Set by ay__begin_waiting(), cleared by
     * ay__stop_waiting().
     * Never set without `waited` */
    bool asleep;
    bool inside; /* by the long way. Set once that is public; cleared by who leaves the long way */
    /* its `when`, `interrupted` or `prepare` runs. Set and cleared by who calls it (units.c,
     * wait.c, prepare.c); while it is set, that function cannot enter this region */
    bool asking;
    bool prepares; /* likewise, its `prepare` alone: it may share (share.c) */
    bool prepared; /* it was called. Set before that; never cleared before the next passage */
    /* how often it was entered again. Counted by who enters and leaves; 0 outside */
    unsigned depth;
    /* it is asked for, and not decided (memory/ask/). Set by ay_ask(), cleared when it is decided
     * or withdrawn; meanwhile nobody else may enter it */
    bool asked;
    /* it is asked for, and hints reach it (ask/descriptor.c). Set or cleared before each rest */
    bool hears;
    /* those inside that are to be told know that it waits. Set by its first sleep: wanted.c */
    bool announced;
    /* it waits for the cluster's permission, or did. Set when that begins: cluster_wait.c */
    bool remote;
    /* how far its condition is, in a cluster. 0 where it has none; else remote/cluster_when.c */
    uint8_t test; /* enum test */
    bool by_ask;  /* it is inside by an ask. Set when that is decided, cleared by who leaves */
    unsigned spins;
    uint32_t heard;   /* aside: what the space's `rouses` was when it listened */
    unsigned unheard; /* the place whose keeper did not hear a recall; AT_NOBODY: none. recall.c */
    int64_t spun_ns;  /* when it began to spin, in a wait that teaches; 0: in none */
    /* another thread has come: who still sleeps on this futex must look again; NULL: nobody */
    const void *moved;
};

/* The waiting of the present passage, from when it first sleeps until it is inside or gives up. */
struct waiting {
    /* when it last doubted the lives of those slept on; or when it fell asleep */
    int64_t doubted_ns;
    unsigned doubts;  /* how often it has */
    unsigned sharing; /* how many then slept on the same place, and will look up before me */
    int64_t nap_ns;
    /* how long it slept last, with more rivals than it can watch; 0: it did not */
    int64_t wide_ns;
    int64_t unclear_ns; /* how long until it walks again (deadlock.c); 0: no need */
    uint64_t cycle;     /* the cycle of waiting threads that it last found; 0: none */
    int64_t cycle_ns;   /* since when */
    uint64_t cancels;   /* what the space's `cancels` was when it last looked: cancel.c */
    /* no kernel will tell of the death of one slept on (share.c): it is doubted often. ay__sleep()
     * says so for each sleep */
    bool unannounced;
};

struct registers {
    struct fixed_near near;
    struct lane lane; /* which short way is open */
    struct passer passer;
    struct mine mine;
    struct retention retention;
    struct rivals rivals;
    struct fixed fixed;
    struct habits habits;
    struct request request;
    struct this_passage passage;
    struct waiting waiting;
    /* the thread that waits for our passages, and may be inside elsewhere; 0: none. ay_on_behalf()
     * sets it, for all passages from then on */
    uint64_t behalf;
    struct preparation preparation; /* for all passages from then on, too */
    /* what the protocol keeps from entering to leaving, and beyond */
    uint64_t kept[4];
};

#define NEVER_GATHERED UINT64_MAX
#define AT_NOBODY      UINT_MAX

_Static_assert(offsetof(struct registers, near) == 0 &&
                   offsetof(struct registers, rivals.news) < 2 * LINE,
               "the short ways fetch two lines of this, and no more");

struct ay_region {
    struct registers at;      /* first: it lies on a line */
    ay_region *next, *before; /* in space->regions; under the mutex */
    struct claim claim;
    uint32_t alone; /* the TID that its life carries while it is not shared; kept by ay_share */
    struct public_spec spec;
    struct remote_side remote;
    /* who asks for it lives as long as who enters this one does; NULL: as itself. Set once, by who
     * opened both (remote/) */
    const ay_region *leader;
    struct ask *ask; /* NULL: it has never asked. Set by the first ask; freed when it is closed */
};

/* Numbers never wrap. With the last NUMBERS_SPARED left, a place that has drawn one of them enters
 * no more; whoever has not yet may draw a few. The express lane asks now and then. A retained
 * permission is given up once half of the numbers are used: some bits tell. */
#define NUMBERS_SPARED (UINT64_C(1) << 30)

/* A fence has the place counted in (ay__fence). */
enum { FENCE_NUMBER_BITS = 48 };
_Static_assert(UINT64_MAX / AY_PLACES_MOST == (UINT64_C(1) << FENCE_NUMBER_BITS) - 1,
               "no fence overflows");

static inline unsigned numbers_bits(const struct running_protocol *protocol)
{
    return protocol->number_bits < FENCE_NUMBER_BITS ? protocol->number_bits : FENCE_NUMBER_BITS;
}

static inline bool numbers_half_used(const struct registers *at)
{
    const struct running_protocol *protocol = at->fixed.protocol;
    return protocol_number(protocol, at->mine.word) << 1 >> numbers_bits(protocol) != 0;
}

static inline bool numbers_used_up(const struct registers *at)
{
    const struct running_protocol *protocol = at->fixed.protocol;
    return protocol->number_bits && protocol_number(protocol, at->mine.word) >=
                                        (UINT64_C(1) << numbers_bits(protocol)) - NUMBERS_SPARED;
}

#endif
