/* SPDX-License-Identifier: MIT */
/* One end of a link: numbers, acknowledgements by the application, sending again, and the detour
 * through the ledger. */
#include "protocols/messages/link.h"

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void link_say(struct link *link)
{
    link->said++;
}

/* K2. The peer is told at once what was taken: on the old connection it may not have heard. */
void link_up(struct link *link)
{
    link->up = true;
    if (!(link->without & LINK_WITHOUT_RESENDING))
        link->sent[LINK_DIRECTLY] = link->acknowledged;
    link->owes[LINK_DIRECTLY] = link->taken > 0;
}

void link_down(struct link *link)
{
    link->up = false;
    if (!(link->without & LINK_WITHOUT_RESENDING))
        link->sent[LINK_DIRECTLY] = 0;
    link->owes[LINK_DIRECTLY] = false;
}

bool link_can_doubt(const struct link *link)
{
    return link->detour < link->said && link->acknowledged < link->said &&
           !(link->without & LINK_WITHOUT_LEDGER) &&
           !(link->up && link->without & LINK_WITHOUT_DOUBT);
}

void link_doubt(struct link *link)
{
    if (link_can_doubt(link))
        link->detour = link->said;
}

bool link_next(struct link *link, enum link_way way, struct link_packet *packet)
{
    const uint64_t most = way == LINK_BY_LEDGER ? link->detour : link->up ? link->said : 0;
    /* what is acknowledged is kept no longer, and leaves no gap */
    link->sent[way] = greater(link->sent[way], link->acknowledged);
    const bool message = link->sent[way] < most;
    if (!message && !link->owes[way])
        return false;
    *packet = (struct link_packet){.number = message ? ++link->sent[way] : 0, .taken = link->taken};
    link->owes[way] = false;
    if (message && way == LINK_DIRECTLY && link->without & LINK_WITHOUT_KEEPING)
        link->acknowledged = packet->number;
    return true;
}

bool link_makes_sense(const struct link *link, struct link_packet packet)
{
    return packet.taken <= link->said;
}

/* K1, K4. */
bool link_receive(struct link *link, enum link_way way, struct link_packet packet)
{
    link->acknowledged = greater(link->acknowledged, packet.taken);
    if (packet.number == 0)
        return false;
    const bool duplicate =
        packet.number <= link->taken && !(link->without & LINK_WITHOUT_LAST_SEEN);
    const bool gap = packet.number > link->taken + 1 && !(link->without & LINK_WITHOUT_NEXT_ONLY);
    if (!duplicate || !(link->without & LINK_WITHOUT_ANSWER))
        link->owes[way] = way == LINK_BY_LEDGER || link->up;
    if (duplicate || gap)
        return false;
    link->taken = packet.number;
    return true;
}
