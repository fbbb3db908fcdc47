/* SPDX-License-Identifier: MIT */
/* One end of a link: what makes messages of two incarnations arrive in order, each exactly once,
 * whatever becomes of the connections between them.
 *
 * Each direction numbers its messages. What a kernel has acknowledged may still be lost unread, so
 * the receiving *application* acknowledges, by the number of the last message that it has taken;
 * the sender keeps what is not acknowledged. There are two ways for a message: directly, over the
 * newest connection; and through the ledger, which loses nothing and keeps its order.
 *
 * K1. Taken is last + 1 only: a message that was taken before is a duplicate, and one further on
 *     would leave a gap.
 * K2. On a new connection all is sent again that is not acknowledged, so that no way has gaps.
 *     (Left out, what is further on is refused by K1 until the ledger has brought the rest: slow,
 *     but right.)
 * K3. What stays unacknowledged goes through the ledger as well, under the same numbers: when there
 *     is no connection, and when one seems to be well and nothing is acknowledged for a while. Each
 *     end decides alone.
 * K4. Whatever comes with a number is acknowledged by the way it came, duplicates and gaps too: its
 *     sender does not know what was taken.
 *
 * So a connection that breaks, one that is open at one end only, one that carries in one direction
 * only, and two at once cost time, and nothing else. `afteryou check link` searches them all.
 *
 * The functions are pure. Whoever calls them keeps the messages themselves, from acknowledged + 1
 * to said, has the clock, and carries out what link_next() says.
 */
#ifndef AFTERYOU_PROTOCOLS_MESSAGES_LINK_H
#define AFTERYOU_PROTOCOLS_MESSAGES_LINK_H

#include <stdbool.h>
#include <stdint.h>

enum link_way { LINK_DIRECTLY, LINK_BY_LEDGER, LINK_WAYS };

/* Rules left out one by one, for the checker to refute. */
enum link_without {
    LINK_WITHOUT_LAST_SEEN = 1 << 0, /* K1: duplicates are taken */
    LINK_WITHOUT_NEXT_ONLY = 1 << 1, /* K1: gaps are taken */
    LINK_WITHOUT_KEEPING = 1 << 2,   /* what was handed to a connection counts as acknowledged */
    LINK_WITHOUT_LEDGER = 1 << 3,    /* K3: there is no detour */
    LINK_WITHOUT_DOUBT = 1 << 4,     /* K3: no detour while a connection seems to be well */
    LINK_WITHOUT_ANSWER = 1 << 5,    /* K4: duplicates are not acknowledged */
    LINK_WITHOUT_RESENDING = 1 << 6, /* K2: a new connection goes on where the old one ended */
};

struct link {
    uint64_t without;      /* enum link_without; never changes */
    uint64_t said;         /* messages of mine, so far */
    uint64_t acknowledged; /* of these, the peer has taken so many */
    uint64_t taken;        /* messages of the peer's */
    /* By each way, how far mine were sent: directly, on the newest connection; by the ledger,
     * ever. */
    uint64_t sent[LINK_WAYS];
    uint64_t detour; /* mine go by the ledger up to this one */
    bool up;         /* there is a connection: set by link_up(), cleared by link_down() */
    /* an acknowledgement is due: set when a message comes, cleared when anything goes that way */
    bool owes[LINK_WAYS];
};

/* What travels: message `number` of the sender's, or 0 for none, and how many it has taken. */
struct link_packet {
    uint64_t number, taken;
};

/* One more message of mine; its number is link->said from here on. */
void link_say(struct link *link);
/* A connection, in place of any other. */
void link_up(struct link *link);
void link_down(struct link *link);
/* Nothing was acknowledged for a while, or there is no connection. */
void link_doubt(struct link *link);
/* Whether link_doubt() would send anything. */
bool link_can_doubt(const struct link *link);
/* What is to be sent next by that way. False: nothing. */
bool link_next(struct link *link, enum link_way way, struct link_packet *packet);
/* True: the message is to be taken. */
bool link_receive(struct link *link, enum link_way way, struct link_packet packet);
/* Whether a packet that came from outside is one that a peer could have sent. */
bool link_makes_sense(const struct link *link, struct link_packet packet);

#endif
