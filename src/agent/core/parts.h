/* SPDX-License-Identifier: MIT */
/* What the files of the agent's core are to each other. */
#ifndef AFTERYOU_AGENT_CORE_PARTS_H
#define AFTERYOU_AGENT_CORE_PARTS_H

#include <string.h>

#include "agent/core/agent.h"
#include "common/assert.h"

enum { MS = 1000 * 1000 };

/* effects.c: what the agent does */
struct agent_effect *effect_add(struct agent *agent, enum agent_effect_kind kind);
/* Of one resource. */
struct agent_effect *effect_on(struct agent *agent, enum agent_effect_kind kind,
                               const struct resource *resource);
/* What it says besides is the caller's to fill in. */
struct agent_effect *effect_say(struct agent *agent, enum agent_line line);
void effect_say_member(struct agent *agent, enum agent_line line, uint32_t node, uint32_t slot);
struct agent_effect *effect_say_resource(struct agent *agent, enum agent_line line,
                                         const struct resource *resource);
void effect_tell_state(struct agent *agent, enum agent_state state);
void effect_tell_death(struct agent *agent, struct resource *resource, bool death);
/* There was more to do than there is room for: the rest must be left. */
bool effect_is_enough(const struct agent *agent);

/* group.c: one record after the other, in the agreed order */
/* A1: all but the names; says HELLO no more */
void group_forget(struct agent *agent, enum cut_reason why);
/* and says HELLO again: later, if it would come to the same end at once */
void group_restart(struct agent *agent, enum cut_reason why);
void group_note_left(struct agent *agent, struct address who, bool with_its_machine);
void group_process(struct agent *agent, struct address from, const void *bytes, size_t length);

/* joining.c: how one becomes a member */
void joining_seek(struct agent *agent);
void joining_put_off(struct agent *agent); /* the same, after a while: ever longer */
void joining_tick(struct agent *agent);
void joining_hello(struct agent *agent, struct address from, struct reader *fields);
void joining_nay(struct agent *agent, struct address from, struct reader *fields);
void joining_refusal(struct agent *agent, struct reader *fields);
void joining_found(struct agent *agent, struct address from, struct reader *fields);
void joining_become_member(struct agent *agent);

/* newcomer.c: from my HELLO to the STATE */
void newcomer_keep(struct agent *agent, struct address from, const void *bytes, size_t length);
void newcomer_keep_left(struct agent *agent, struct address who, bool with_its_machine);
void newcomer_state(struct agent *agent, struct reader *fields);

/* admission.c: a newcomer's HELLO, as members find it */
void admission(struct agent *agent, struct address from, uint64_t incarnation,
               struct reader *fields);

/* members.c: how one gets a slot, and ceases to be a member */
void members_next_view(struct agent *agent);
/* There has been this one: what begins after all are restarted begins above it. */
void members_keep_view(struct agent *agent, uint64_t view);
uint32_t members_add(struct agent *agent, struct address address, uint64_t incarnation,
                     uint64_t pages); /* a slot, or NO_SLOT */
/* `kept`: what the successor has, or owes; `doubtful`: where somebody may have died. */
void members_succeed(struct agent *agent, uint32_t node, uint64_t pages, struct reader *kept,
                     struct reader *doubtful);
void members_burial(struct agent *agent, struct reader *fields);
void members_farewell(struct agent *agent, uint32_t slot, struct reader *fields);
void members_ghost(struct agent *agent, uint32_t slot, struct reader *fields);
void members_free_slots(struct agent *agent);
/* A member, and not a ghost. */
bool member_is_alive(const struct member *member);

/* lease.c */
void lease_tick(struct agent *agent);
void lease_renewal(struct agent *agent, uint32_t slot, struct reader *fields);
bool lease_is_valid(const struct agent *agent);
void lease_renew(struct agent *agent);

/* names.c: which resources this machine knows */
/* An entry that is in no list: it is put into one. */
void names_set(struct agent *agent, struct resource *resource, const char *name, size_t length);
/* NULL: not there */
struct resource *names_find(const struct agent *agent, const char *name, size_t length);
/* NULL: no room, or a bad name */
struct resource *names_add(struct agent *agent, const char *name, size_t length);
void names_publish(struct agent *agent, struct resource *resource); /* in the pages */
void names_forget(struct agent *agent, struct resource *resource);  /* if it is of no use */
void names_tell_full(struct agent *agent);                          /* the group has no room */
void names_tell_room(struct agent *agent);                          /* it has again */
/* the group has no room for it */
void names_refuse(struct agent *agent, struct resource *resource);

/* resources.c: those of the group, and their protocols */
void resources_write_state(struct agent *agent, struct parcel *out);
bool resources_read_state(struct agent *agent, struct reader *fields);
/* `first`: a slot that has every permission of it, or NO_SLOT: the eldest has. */
struct resource *resources_create(struct agent *agent, const char *name, size_t length,
                                  uint32_t first);
void resources_creation(struct agent *agent, uint32_t slot, struct reader *fields);
/* What the machine `node` says that it keeps, a list of (slot, name): if the group has not got the
 * name, the slot has every permission of it. */
void resources_restore(struct agent *agent, uint32_t node, struct reader kept);
/* NULL: there is none, or not yet (serial > agent->created), or no longer */
struct resource *resources_at(const struct agent *agent, uint64_t serial);
void resources_joined(struct agent *agent, uint32_t slot);
/* `death`: it may have been inside; in the agreed order, if it had it or waited. Over links,
 * `words` is what it knew of deaths, or NULL. */
void resources_died(struct agent *agent, struct resource *resource, uint32_t slot, bool death,
                    const struct message *words);
void resources_forget(struct agent *agent);                          /* all, with the group */
void resources_drop(struct agent *agent, struct resource *resource); /* one */

/* forgetting.c: names that nobody uses */
bool forgetting_may_ask(const struct agent *agent, const struct resource *resource);
void forgetting_unused(struct agent *agent, struct resource *resource); /* nobody has it open */
void forgetting_leave(struct agent *agent, struct resource *resource);  /* if I use it no longer */
void forgetting_record(struct agent *agent, uint32_t slot, struct reader *fields);
/* Whether it was forgotten: nobody uses it, and there is nothing to be told. */
bool forgetting_settle(struct agent *agent, struct resource *resource);
void forgetting_notes_end(struct agent *agent, struct resource *resource, uint32_t slot,
                          const struct message *words);

/* passages.c: the machine as a user of a protocol */
/* asks for what this machine wants */
void passages_pursue(struct agent *agent, struct resource *resource);
void passages_pursue_all(struct agent *agent);
void passages_step(struct agent *agent, struct resource *resource, const struct event *event);
/* What does not conflict with this mode stays. */
void passages_take_back(struct agent *agent, struct resource *resource, unsigned mode);
void passages_look_for_contest(struct agent *agent, struct resource *resource);
void passages_message(struct agent *agent, uint32_t slot, struct reader *fields);
/* over a link; only if it is about a resource that is the same here */
void passages_take(struct agent *agent, uint32_t slot, const struct said *said);
enum said_fate {
    SAID_TO_BE_TAKEN,
    SAID_EARLY,     /* its name is not known yet, or not that its sender uses it */
    SAID_OF_ANOTHER /* resource than the one that is here */
};
enum said_fate passages_judge(const struct agent *agent, uint32_t slot, const struct said *said);
/* A new agent is there for what ghosts of its machine's have: those that I wait for. */
void passages_want_of_successor(struct agent *agent, uint32_t successor);
/* What is said over links of a resource, besides the protocol's messages. */
void passages_say_note(struct agent *agent, const struct resource *resource, uint32_t slot,
                       enum record_kind kind);
/* Others that want it are told that somebody is inside here. */
void passages_tell_busy(struct agent *agent, struct resource *resource);

/* conditions.c: those who sleep until theirs may be true */
void conditions_demand(struct agent *agent, struct resource *resource, enum demand_kind kind);
void conditions_take(struct agent *agent, struct resource *resource, uint32_t slot,
                     enum record_kind kind);
void conditions_publish(struct agent *agent, struct resource *resource); /* before it is granted */
/* The group, or what it knows of the resource: nobody of `gone` watches any more. */
void conditions_change(struct agent *agent, struct resource *resource, slot_set gone);

/* peers.c: links, and the detour through the ledger */
void peers_add(struct agent *agent, uint32_t slot);
void peers_add_all(struct agent *agent); /* I am a member now */
void peers_remove(struct agent *agent, uint32_t slot);
void peers_forget(struct agent *agent);
void peers_say(struct agent *agent, uint32_t slot, const struct said *said);
void peers_link(struct agent *agent, const struct agent_event *event);
void peers_relayed(struct agent *agent, uint32_t slot, struct reader *fields);
void peers_take_held(struct agent *agent); /* there is another name */
void peers_send(struct agent *agent);      /* all that is to be sent, at the end of a step */
int64_t peers_due(const struct agent *agent);
void peers_tick(struct agent *agent);

/* notes.c: what members say of a resource */
void notes_put(struct agent *agent, enum record_kind kind, const struct resource *resource,
               uint8_t value);
void notes_waiting(struct agent *agent, struct resource *resource, uint32_t slot, unsigned mode);
/* Over links: of all deaths up to this number somebody has been told. */
void notes_put_told(struct agent *agent, const struct resource *resource, uint64_t number);
void notes_busy(struct agent *agent, struct resource *resource, uint32_t slot);
void notes_record(struct agent *agent, uint32_t slot, enum record_kind kind, struct reader *fields);

/* deaths.c: those inside that nobody has been told of */
void deaths_sweep(struct agent *agent, struct resource *resource);
/* What became of those inside is not known, and the group counts it when a ghost of mine ends. */
bool deaths_are_to_come(const struct agent *agent, const struct resource *resource);
void deaths_found(struct agent *agent, struct resource *resource);
void deaths_write(struct agent *agent);                                        /* into a HELLO */
void deaths_read(struct agent *agent, bool count_them, struct reader *fields); /* or pass over */
void deaths_record(struct agent *agent, struct reader *fields);
void deaths_begin(struct agent *agent);        /* a group that I found */
void deaths_settle(struct agent *agent);       /* a group that I have joined */
void deaths_note_holders(struct agent *agent); /* before it is forgotten */
void deaths_tick(struct agent *agent);
/* Over links. */
void deaths_publish(struct agent *agent, struct resource *resource); /* as the protocol has it */
void deaths_told(struct agent *agent, struct resource *resource);
void deaths_write_doubtful(struct agent *agent); /* into a HELLO */
void deaths_pass_doubtful(struct reader *fields);

/* holdings.c: what this machine has of the resources */
void holdings_inherit(struct agent *agent, unsigned index, const struct inherited_page *said);
void holdings_demand(struct agent *agent, const struct demand *demand, uint64_t number);
void holdings_busy(struct agent *agent, struct resource *resource);
void holdings_taken_back(struct agent *agent, const struct agent_event *event);
void holdings_farewell(struct agent *agent);
void holdings_settle_inheritance(struct agent *agent);
void holdings_lose_all(struct agent *agent); /* what was granted to me is lost */
void holdings_tick(struct agent *agent);     /* ends what is owed no longer */

/* Whoever may be inside by the permission may be so by the weaker one too. */
static inline bool permission_includes(unsigned permission, unsigned weaker)
{
    return modes_include(permission_turned(permission), permission_turned(weaker));
}

static inline bool permissions_conflict(unsigned permission, unsigned other)
{
    return modes_conflict(permission_turned(permission), permission_turned(other));
}

/* What is left of it for who is inside beside `other`. */
static inline unsigned permission_beside(unsigned permission, unsigned other)
{
    return permission_turned(
        modes_common(permission_turned(permission), modes_beside(permission_turned(other))));
}

/* Parts of what is granted can be given back, and more be asked for: over links, and not in the
 * name of a slot that has ended. */
static inline bool resource_converts(const struct agent *agent, const struct resource *resource)
{
    return agent_is_apart(agent) && agent->options.protocol->converts && resource->ghost < 0;
}

static inline struct node *resource_node(const struct resource *resource)
{
    return (struct node *)resource->state;
}

static inline void parcel_slots(struct parcel *parcel, slot_set slots)
{
    parcel_put(parcel, &slots, sizeof slots);
}

static inline slot_set read_slots(struct reader *reader)
{
    slot_set slots = 0;
    const void *bytes = read_bytes(reader, sizeof slots);
    if (bytes)
        memcpy(&slots, bytes, sizeof slots);
    return slots;
}

static inline bool is_without(const struct agent *agent, enum agent_rule rule)
{
    return agent->options.without >> rule & 1;
}

#endif
