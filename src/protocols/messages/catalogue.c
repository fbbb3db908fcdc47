/* SPDX-License-Identifier: MIT */
/* The message protocols by name: the four that ship, the broken variants that every engine must
 * find out, and others of the papers. */
#include "protocols/messages/catalogue.h"

#include <string.h>

#define LAMPORT            &lamport_protocol
#define RICART_AGRAWALA    &ricart_agrawala_protocol
#define CARVALHO_ROUCAIROL &carvalho_roucairol_protocol
#define TOKEN              &token_protocol
#define RING               &ring_protocol
#define CIRCULATING        &circulating_protocol
#define ELECTED            &elected_protocol

static const struct variant variants[] = {
    {"lamport", LAMPORT, 0, false, NULL},
    {"ricart-agrawala", RICART_AGRAWALA, 0, false, NULL},
    {"carvalho-roucairol", CARVALHO_ROUCAIROL, 0, false, NULL},
    {"token", TOKEN, 0, false, NULL},

    {"lamport-no-acknowledgement", LAMPORT, WITHOUT_ACKNOWLEDGEMENT, false,
     "the wait for a later word from all"},
    {"lamport-out-of-turn", LAMPORT, WITHOUT_TURN, false, "the look at the others' requests"},
    {"lamport-newcomer-not-told", LAMPORT, WITHOUT_TELLING, true,
     "telling a newcomer of the requests made before"},
    {"lamport-fence-not-carried", LAMPORT, WITHOUT_FENCE_CARRIED, false,
     "the highest fence in every message"},
    {"lamport-waits-for-the-dead", LAMPORT, WITHOUT_IMPLIED_REPLY, true, "forgetting the dead"},
    {"ricart-agrawala-published", RICART_AGRAWALA, WITHOUT_INSIDE_TEST | WITHOUT_FAIR_NUMBERS, true,
     "the test for inside, and the numbers that make it fair"},
    {"ricart-agrawala-no-inside-test", RICART_AGRAWALA, WITHOUT_INSIDE_TEST, true,
     "the test for inside"},
    {"ricart-agrawala-own-number-unheard", RICART_AGRAWALA, WITHOUT_OWN_NUMBER, false,
     "counting one's own number as heard"},
    {"ricart-agrawala-bare-reply", RICART_AGRAWALA, WITHOUT_REPLY_NUMBER, false,
     "the highest number in a REPLY"},
    {"ricart-agrawala-unfair", RICART_AGRAWALA, WITHOUT_FAIR_NUMBERS, false,
     "the numbers that make it fair"},
    {"ricart-agrawala-never-defers", RICART_AGRAWALA, WITHOUT_DEFERRING, false,
     "deferring while waiting"},
    {"ricart-agrawala-waits-for-the-dead", RICART_AGRAWALA, WITHOUT_IMPLIED_REPLY, true,
     "the implied reply of the dead"},
    {"ricart-agrawala-no-incarnations", RICART_AGRAWALA, WITHOUT_INCARNATIONS, true,
     "ignoring what was meant for an earlier incarnation"},
    {"ricart-agrawala-fence-without-view", RICART_AGRAWALA, WITHOUT_VIEW_IN_FENCE, true,
     "the view in the fence"},
    {"ricart-agrawala-deaf", RICART_AGRAWALA, WITHOUT_ASKING, false, "hearing its user"},
    {"ricart-agrawala-alone", RICART_AGRAWALA, WITHOUT_SHARING, false,
     "the look at whether modes conflict"},
    {"carvalho-roucairol-no-ask-again", CARVALHO_ROUCAIROL, WITHOUT_ASKING_AGAIN, false,
     "asking again for a permission given up while waiting"},
    {"carvalho-roucairol-never-defers", CARVALHO_ROUCAIROL, WITHOUT_DEFERRING, false,
     "deferring while waiting"},
    {"carvalho-roucairol-no-inside-test", CARVALHO_ROUCAIROL, WITHOUT_INSIDE_TEST, false,
     "deferring while inside"},
    {"carvalho-roucairol-divisible", CARVALHO_ROUCAIROL, WITHOUT_INDIVISIBILITY, false,
     "the indivisible test and entry"},
    {"carvalho-roucairol-preset-newcomer", CARVALHO_ROUCAIROL, WITHOUT_EMPTY_HANDS, true,
     "the newcomer's beginning without permissions"},
    {"carvalho-roucairol-nobodys-permission", CARVALHO_ROUCAIROL, WITHOUT_GIFT, true,
     "the members' taking of a newcomer's permission"},
    {"carvalho-roucairol-no-incarnations", CARVALHO_ROUCAIROL, WITHOUT_INCARNATIONS, true,
     "ignoring what was meant for an earlier incarnation"},
    {"carvalho-roucairol-fence-without-view", CARVALHO_ROUCAIROL, WITHOUT_VIEW_IN_FENCE, true,
     "the view in the fence"},
    {"carvalho-roucairol-fence-not-carried", CARVALHO_ROUCAIROL, WITHOUT_FENCE_CARRIED, false,
     "the highest fence in every message"},
    {"carvalho-roucairol-mode-not-kept", CARVALHO_ROUCAIROL, WITHOUT_KEEPING, false,
     "deferring, while it waits for a stronger mode, what conflicts with the one it has"},
    {"carvalho-roucairol-nobody-let-in", CARVALHO_ROUCAIROL, WITHOUT_LETTING_IN, false,
     "answering, when it goes on in a weaker mode, those whom it kept out"},
    {"carvalho-roucairol-later-let-in", CARVALHO_ROUCAIROL, WITHOUT_EARLIER, false,
     "deferring still, when it no longer keeps a mode, those who come after it"},
    {"carvalho-roucairol-rank-not-first", CARVALHO_ROUCAIROL, WITHOUT_RANK_FIRST, false,
     "the order by rank before that by number"},
    {"carvalho-roucairol-urge-not-said", CARVALHO_ROUCAIROL, WITHOUT_URGING, false,
     "telling those that it has asked that its rank has risen"},
    {"carvalho-roucairol-urge-answered", CARVALHO_ROUCAIROL, WITHOUT_ONE_REPLY, false,
     "passing over an URGE of one whose REQUEST was answered"},
    {"carvalho-roucairol-urge-not-awaited", CARVALHO_ROUCAIROL, WITHOUT_AWAITING, false,
     "the wait, in a weaker mode, for the REPLY to the REQUEST that is out"},
    {"carvalho-roucairol-bare-reply", CARVALHO_ROUCAIROL, WITHOUT_REPLY_MODE, false,
     "the mode in a REPLY, where one may be urged"},
    {"carvalho-roucairol-ranks-not-kept", CARVALHO_ROUCAIROL, WITHOUT_RANKS_DEFERRED, false,
     "the look at the ranks of those that were deferred before"},
    {"carvalho-roucairol-cut-untold", CARVALHO_ROUCAIROL, WITHOUT_LOSS, true,
     "telling its user that it was cut off"},
    {"token-regenerated-twice", TOKEN, WITHOUT_SENIORITY, true,
     "seniority: every survivor makes a new token"},
    {"token-not-taken-back", TOKEN, WITHOUT_TAKING_BACK, true,
     "taking back a token sent to the dead"},
    {"token-established-early", TOKEN, WITHOUT_ESTABLISHING, true,
     "the wait until STATE establishes a newcomer"},
    {"token-fence-without-view", TOKEN, WITHOUT_VIEW_IN_FENCE, true, "the view in the fence"},
    {"ricart-agrawala-ring-never-keeps", RING, WITHOUT_DEFERRING, false,
     "keeping the REQUEST of one who comes later"},
    {"ricart-agrawala-ring-unfair", RING, WITHOUT_FAIR_NUMBERS, false,
     "the numbers that make it fair"},
    {"token-circulating-hasty", CIRCULATING, WITHOUT_DEFERRING, false,
     "keeping the token while inside"},
    {"token-elected-twice", ELECTED, WITHOUT_DEFERRING, false,
     "keeping back a REPLY: whoever is asked gives it"},

    {"lamport-ddclock", LAMPORT, WITHOUT_THRIFT, false, NULL},
    {"ricart-agrawala-ring", RING, 0, false, NULL},
    {"token-circulating", CIRCULATING, 0, false, NULL},
    {"token-elected", ELECTED, 0, false, NULL},

    {"lamport-links-unwelcomed", LAMPORT, WITHOUT_WELCOME, true,
     "the welcome by every elder before a newcomer asks"},
    {"lamport-links-not-lowest", LAMPORT, WITHOUT_WELCOME | WITHOUT_LOWEST, true,
     "both that and telling a newcomer that who is inside comes before all"},
    {"ricart-agrawala-links-unwelcomed", RICART_AGRAWALA, WITHOUT_WELCOME, true,
     "the welcome by every elder before a newcomer asks"},
    {"ricart-agrawala-links-newcomer-not-asked", RICART_AGRAWALA,
     WITHOUT_WELCOME | WITHOUT_ASKING_NEWCOMERS, true, "both that and asking a newcomer too"},
    {"carvalho-roucairol-links-not-held", CARVALHO_ROUCAIROL, WITHOUT_HOLDING, true,
     "holding what comes before its sender's joining"},
    {"carvalho-roucairol-links-not-closed", CARVALHO_ROUCAIROL, WITHOUT_CLOSING, true,
     "closing the link to one that is buried"},
    {"carvalho-roucairol-links-buried-early", CARVALHO_ROUCAIROL, WITHOUT_LEASE, true,
     "the end of the lease before a burial"},
    {"carvalho-roucairol-links-buried-well", CARVALHO_ROUCAIROL, WITHOUT_DEATH_AT_BURIAL, true,
     "counting who is buried as dead inside"},
    {"carvalho-roucairol-links-death-not-carried", CARVALHO_ROUCAIROL, WITHOUT_DEATH_CARRIED, true,
     "the greatest death in every message"},
    {"carvalho-roucairol-links-told-not-carried", CARVALHO_ROUCAIROL, WITHOUT_TOLD_CARRIED, true,
     "the greatest death that was told in every message"},
    {"carvalho-roucairol-links-no-last-words", CARVALHO_ROUCAIROL, WITHOUT_LAST_WORDS, true,
     "what a farewell says of deaths"},
    {"carvalho-roucairol-links-hasty-farewell", CARVALHO_ROUCAIROL, WITHOUT_LAST_VIEW, true,
     "doubting a farewell of one that had not installed all before it"},
    {"carvalho-roucairol-links-told-by-grant", CARVALHO_ROUCAIROL, WITHOUT_REALLY_TOLD, true,
     "the wait until the user has in fact been told"},
    {"carvalho-roucairol-links-told-in-company", CARVALHO_ROUCAIROL, WITHOUT_TOLD_ALONE, true,
     "that only who is alone inside counts as told"},
    {"carvalho-roucairol-links-view-not-installed", CARVALHO_ROUCAIROL, WITHOUT_VIEW_INSTALLED,
     true, "the rise of the highest fence with every change"},
    {"carvalho-roucairol-units-bare-reply", CARVALHO_ROUCAIROL, WITHOUT_REGISTER_IN_REPLY, false,
     "the register in a REPLY"},
    {"carvalho-roucairol-units-bare-changed", CARVALHO_ROUCAIROL, WITHOUT_REGISTER_IN_CHANGED,
     false, "the register in a CHANGED"},
    {"carvalho-roucairol-units-no-version", CARVALHO_ROUCAIROL, WITHOUT_VERSION_IN_WATCH, false,
     "the version in a WATCH"},
    {"carvalho-roucairol-units-late-watch", CARVALHO_ROUCAIROL, WITHOUT_LOOK_WITH_WATCH, false,
     "that to look and to WATCH are one step"},
    {"carvalho-roucairol-units-silent-burial", CARVALHO_ROUCAIROL, WITHOUT_CHANGED_AT_BURIAL, true,
     "looking again when somebody is gone"},
    {"carvalho-roucairol-units-old-copies", CARVALHO_ROUCAIROL, WITHOUT_CACHE_RESET, true,
     "forgetting the register of one that is gone"},
    {"carvalho-roucairol-units-unannounced", CARVALHO_ROUCAIROL, WITHOUT_REGISTER_AT_JOINING, true,
     "the register in the joining of one that follows another"},
    {"carvalho-roucairol-units-give-way", CARVALHO_ROUCAIROL, WITHOUT_KEEPING_TURN, false,
     "keeping one's turn while one waits for units"},
};

bool variant_ships(const struct variant *variant)
{
    return !variant->left_out && !variant->without && !variant->protocol->fixed;
}

bool variant_needs_links(const struct variant *variant)
{
    return (variant->without & WITHOUT_OF_LINKS) != 0;
}

bool variant_needs_units(const struct variant *variant)
{
    return (variant->without & WITHOUT_OF_UNITS) != 0;
}

bool variant_needs_conversions(const struct variant *variant)
{
    return (variant->without & WITHOUT_OF_CONVERSIONS) != 0;
}

bool variant_needs_ranks(const struct variant *variant)
{
    return (variant->without & WITHOUT_OF_RANKS) != 0;
}

const struct variant *variant_at(unsigned i)
{
    return i < sizeof variants / sizeof *variants ? &variants[i] : NULL;
}

const struct variant *variant_find(const char *name)
{
    for (unsigned i = 0; variant_at(i); i++)
        if (strcmp(variants[i].name, name) == 0)
            return &variants[i];
    return NULL;
}
