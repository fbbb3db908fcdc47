# SPDX-License-Identifier: MIT
"""The mutants of mutants.py: one change of one file below src/memory each, and how it is found."""
import dataclasses

STUCK = "nobody wakes them"
SLEEPING = "wait.c wake.c"
NAMING = "naming"  # no scene: the program of that name finds it, beside the text of the model


@dataclasses.dataclass
class Mutant:
    name: str
    file: str  # below src/memory
    text: str  # stands there once
    instead: str
    scene: str  # finds it
    finding: str = ""  # what it says
    preemptions: int = 3
    kills: int = 0
    lapses: int = 0
    rouses: int = 0
    narrow: bool = False  # with little room: watches of one, lines packed from the second place on
    cluster: bool = False  # beside a cluster's agent
    seed: int = 1
    within: str = ""  # only points in these files count
    long: bool = False  # to find: it is left out unless all are asked for

    def program(self):
        return "naming" if self.scene == NAMING else f"schedules{'-narrow' * self.narrow}{'-cluster' * self.cluster}"


MUTANTS = [
    # sleeping and waking
    Mutant("a new owner counts its sleeps anew", "passage/region.c", ".sleeps = atomic_load(&at->near.own->sleeps)", ".sleeps = 0",
           "a place changes its owner", STUCK),
    Mutant("a sleeper does not look again", "passage/wait.c",
           "changed |= registers_as_read(at, 0, vital, raw) != watch->seen[which];", "", "two pass", STUCK),
    Mutant("a death is not passed on", "passage/wait.c",
           "    ay__futex_wake(before->futex);\n    ay__futex_wake(&registers_hot(at, place)->word);", "",
           "readers and a writer", STUCK, preemptions=0, kills=1),
    Mutant("who leaves wakes nobody", "passage/wake.c", "    if (needed)\n        wake_own(at, 0);\n", "", "two pass", STUCK),
    Mutant("one that is expected counts as woken, and is not", "passage/wake.c", "hot, asleep, true))\n        wake_own(at, 0);\n",
           "hot, asleep, true))\n        return;\n", "three wake the next", STUCK, preemptions=2, within=SLEEPING),
    Mutant("one that was not asleep counts as woken ahead", "passage/wake.c", "wake_own(at, 0) == 1 && soon && found.count == 1",
           "(wake_own(at, 0), true) && found.count == 1", "three wake the next", STUCK, preemptions=2, within=SLEEPING),
    Mutant("one that is woken by a hint counts as woken for long", "passage/wake.c",
           " && soon && found.count == 1 && found.alone &&\n        !found.asks", " && found.count == 1",
           "a writer wakes the next reader", STUCK, preemptions=3, seed=2, within=SLEEPING, long=True),
    Mutant("one by its place is not woken", "passage/wake.c", "    if (asleep != 0 &&\n        !(", "    if (0 &&\n        !(",
           "two slots", STUCK),
    Mutant("one for a slot does not sleep by its place", "passage/wait.c", "aside || at->fixed.spec->slots > 1;", "aside;",
           "two slots", STUCK),
    Mutant("a death is not passed on by who gives up", "passage/wait.c",
           "    for (unsigned which = 0; which < watch->count; which++)\n        changes",
           "    for (unsigned which = 0; again && which < watch->count; which++)\n        changes",
           "a reader gives up beside a reader", STUCK, preemptions=0, kills=1, lapses=1, within=SLEEPING, long=True),
    Mutant("who gives up stays in the queue", "passage/long_way.c", "    at->fixed.protocol->leave(at);\n    at->fixed.protocol->hooks->after_giving_up(at);\n",
           "", "one gives up between two", STUCK, lapses=1),
    Mutant("aside it does not hear who rouses it", "passage/wait.c", "    ay__sleep_watch(words, count, at->fixed.rouses, at->passage.heard);\n",
           "", "two aside", STUCK, preemptions=2, narrow=True, within=SLEEPING),
    Mutant("who rouses one aside does not say so", "passage/wake.c", "        atomic_fetch_add(rouses, 1);\n", "        ;\n",
           "two aside", STUCK, narrow=True),
    Mutant("with too many to watch it sleeps on", "passage/wait.c", "    if (watch->overflow)\n        return next_wide_nap(at);\n", "",
           "one of two slots stays taken", STUCK, narrow=True),
    # asks
    Mutant("a helper is not rung for a word", "ask/helper.c", "    helper->word[helper->count++] = watched;\n    helper->stale = true;\n",
           "    helper->word[helper->count++] = watched;\n", "one asks, and hints are refused", STUCK),
    Mutant("a hint that is refused counts", "ask/descriptor.c", "!send_to(fd, ear, atomic_load(&cold->key), about)",
           "(send_to(fd, ear, atomic_load(&cold->key), about), false)", "one asks, and hints are refused", STUCK),
    Mutant("a hint is taken for nothing", "ask/descriptor.c", "    ay__ask_word_changed(asks, &hot->word);\n", "", "one asks", STUCK),
    Mutant("an ask behind another of its process is not told", "passage/wake.c", "    asks_tell(at);\n", "", "two asks of one process", STUCK, seed=2),
    Mutant("who withdraws stays in the queue", "ask/ask.c", "    ay__knowledge_take(ask->region);\n    decide(ask, false);\n",
           "    part(ask);\n", "an ask is withdrawn"),
    Mutant("who puts down what it knows takes itself to have gathered", "passage/acquaintances.c",
           "    rivals->gathered = rivals->counted = NEVER_GATHERED;\n", "", "two asks of one process", narrow=True),
    Mutant("a writer takes up what a reader knew", "ask/knowledge.c", "down->mode == region->spec.mode &&", "",
           "a reader and a writer ask", narrow=True),
    Mutant("who goes to sleep tells no holder", "passage/wait.c", "            ay__wanted_announce(at);\n", "            ;\n", "a holder is told", STUCK),
    Mutant("who goes to sleep tells one holder", "ask/wanted.c", "bells |= UINT64_C(1)", "bells = UINT64_C(1)", "two readers are told", STUCK),
    Mutant("who is to be told does not look when it enters", "passage/long_way.c", "        ay__wanted_tell(region);\n", "        ;\n",
           "a holder is told", STUCK),
    Mutant("a bell is rung without a count", "ask/wanted.c", "    atomic_fetch_add(&header->bell[which], 1);\n", "", "a holder is told", STUCK),
    # deaths
    Mutant("a claimer forgets a death inside", "file/inherited.c", "        keep(cold, generation);\n        atomic_store(&hot->inherited, 1);\n", "",
           "a place changes its owner", "were told", preemptions=1, kills=1),
    Mutant("a death is told without a swap", "passage/deaths.c",
           "    const bool swapped = atomic_compare_exchange_strong(target, &seen, wanted);\n",
           "    atomic_store(target, wanted);\n    const bool swapped = true;\n", "readers and a writer", "were told", preemptions=2, kills=1, within="deaths.c"),
    Mutant("a dead waiter is not noticed", "passage/wait.c", "        ends |= ay__notice(at, watch->place[which]);\n", "        ;\n",
           "a thread comes after one that ended anywhere", kills=1),
    Mutant("the place of a thread that ended is not renewed", "passage/passer.c", "        error = renew(region);\n", "        ;\n",
           "a thread comes after one that ended inside"),
    Mutant("a renewed place keeps its permission", "passage/passer.c", "    atomic_store(&at->retention.grant, 0);\n", "",
           "a thread comes after one that retained", kills=1),
    Mutant("who slept on the thread before is not told of the next", "passage/long_way.c", "        ay__futex_wake(at->passage.moved);\n", "        ;\n",
           "who set the flag has ended inside", STUCK),
    # who is a rival
    Mutant("who comes says nothing in `claims`", "file/claim.c",
           "        atomic_fetch_add(&header->bucket[bucket_of(ay__name_hash(&spec->name[at]))].claims, 1);\n", "", "one opens"),
    Mutant("who takes a place leaves no number behind", "file/claim.c", "        raise_floors(space->pen.header, &cold->spec, protocol_number(protocol, is));\n", "        ;\n",
           "one comes after a place has changed its name", "fence", preemptions=1),
    Mutant("who takes a place stores no tag", "file/claim.c", "    tag_store(space->pen.tags, claim->place, tag_for(space, claim));\n    claim->step = CLAIM_WRITTEN;", "    claim->step = CLAIM_WRITTEN;", "one opens"),
    Mutant("who is renamed stores no tag", "file/claim.c",
           "    tag_store(space->pen.tags, claim->place, tag_for(space, claim));\n    atomic_store(&claim->cold->admission, of_generation(generation, ADMISSION_ASKED));",
           "    atomic_store(&claim->cold->admission, of_generation(generation, ADMISSION_ASKED));", "two are renamed beside a third"),
    Mutant("who is renamed keeps what it knew of others", "passage/rename.c", "        ay__gather_anew(&region->at);\n", "", "two are renamed beside a third"),
    Mutant("who is renamed keeps its generation", "file/claim.c", "    const uint32_t generation = next_generation(life);\n    access_point();\n    atomic_store(&hot->life, claimed_after(life_make(life_generation(life), 0)));\n    claim->step = CLAIM_OWNED;\n    raise_floors",
           "    const uint32_t generation = life_generation(life);\n    access_point();\n    atomic_store(&hot->life, claimed_after(life_make(life_generation(life), 0)));\n    claim->step = CLAIM_OWNED;\n    raise_floors", "two are renamed beside a third"),
    Mutant("a claimer forgets the number", "file/claim.c", "was = atomic_load(&hot->word), is = protocol->dead(0, was);", "was = 0, is = 0;",
           "a place changes its owner", "fence", preemptions=1),
    Mutant("who claims a place does not swap its life", "file/claim.c",
           "return atomic_compare_exchange_strong(&hot->life, &seen, claimed_after(seen)) ? 0 : TAKEN;",
           "atomic_store(&hot->life, claimed_after(seen));\n    return 0;", "two open", preemptions=1),
    Mutant("numbers of strangers are forgotten", "passage/rivals.c", "                at->rivals.floor = number;\n", "                ;\n",
           "a rival beside the express lane changes its name", "fence"),
    Mutant("who was missed is not counted", "passage/rivals.c", "    at->rivals.missed += claims != at->rivals.counted;\n", "",
           "who set the flag came and went", STUCK),
    Mutant("who is gone is watched, though nobody looks at it", "passage/settings.h", "other->rival && (other->alive || other->open)", "other->rival",
           "one of two closes before an ask", "round and round", preemptions=1),
    # the express look
    Mutant("the express look ends before the last rival", "passage/words.h", "        for (; count > 0; count--, line += stride)\n",
           "        for (; count > 1; count--, line += stride)\n", "two by the express lane"),
    Mutant("who leaves looks at all but one", "passage/words.h", "        for (; count > 0; count--) {\n            line -= stride;\n",
           "        for (; count > 1; count--) {\n            line -= stride;\n", "two by the express lane", STUCK),
    Mutant("the express look believes what it gathered", "passage/words.h",
           "#define ABOVE(steps) __builtin_expect(registers_at_line(line + (steps)*stride) > limit, 0)\n    if (!registers_gathered(at))\n        return false;\n",
           "#define ABOVE(steps) __builtin_expect(registers_at_line(line + (steps)*stride) > limit, 0)\n", "one opens beside the express lane"),
    Mutant("who leaves takes all that sleep for woken", "passage/wake.c",
           "           needs_waking(at, place, hot, asleep, false);\n", "           false;\n", "two by the express lane", STUCK),
    Mutant("who leaves takes one that is aside for asleep", "passage/wake.c", "(value & mask) != waits ||", "",
           "two aside", STUCK),
    # retained permission
    Mutant("a keeper takes back what is in use", "courtesy/recall.c", "    if (atomic_load(&own->inside) != 0)\n", "    if (0)\n",
           "a recall while it goes in again"),
    Mutant("who goes in again does not look", "passage/words.h", "    return atomic_load_explicit(&at->near.own->recalled, memory_order_acquire);\n",
           "    return 0;\n", "a recall while it goes in again"),
    Mutant("a keeper wakes nobody", "courtesy/recall.c", "    ay__futex_wake(&own->word);\n", "", "a recall", STUCK),
    Mutant("a keeper stores without a swap", "courtesy/recall.c",
           "    if (!atomic_compare_exchange_strong(&own->word, &expected,\n                                        courtesy_in(COURTESY_IDLE, recall->seen)))\n        return false;\n",
           "    atomic_store(&own->word, courtesy_in(COURTESY_IDLE, expected));\n", "a recall while it goes in again"),
    Mutant("a keeper does not try again", "courtesy/recall.c", "            again |= !take_back(&recalls[which]);\n", "            take_back(&recalls[which]);\n",
           "a recall while it goes in again", STUCK),
    Mutant("a recall that was not heard is not repeated", "courtesy/recall.c", "heard ? AT_NOBODY : place;", "AT_NOBODY;", "a recall", STUCK, preemptions=0, rouses=1),
    Mutant("who closes keeps its permission", "courtesy/retention.c", "    at->fixed.protocol->leave(at);\n", "", "one closes while it retains", STUCK),
    Mutant("the bell is mapped too late", "courtesy/retention.c", " || !ay__space_map_bell(space)", "", "one closes while it retains, beside one aside"),
    # names, beside the text of the model
    Mutant("who is renamed leaves no number behind", "file/claim.c",
           "    raise_floors(space->pen.header, spec, protocol_number(protocol, atomic_load(&hot->word)));\n", "", NAMING),
    Mutant("who claims a place forgets the number of the last owner", "file/claim.c",
           "    if (protocol->number_bits)\n        raise_floors(", "    if (0)\n        raise_floors(", NAMING),
    Mutant("who is renamed keeps its generation", "file/claim.c", "    const uint32_t generation = next_generation(life);\n    access_point();\n",
           "    const uint32_t generation = life_generation(life);\n    access_point();\n", NAMING),
    Mutant("who is renamed keeps its tag", "file/claim.c",
           "    tag_store(space->pen.tags, claim->place, tag_for(space, claim));\n    atomic_store(&claim->cold->admission", "    atomic_store(&claim->cold->admission", NAMING),
    Mutant("who comes is not counted by its name", "file/claim.c", "spec->name[at]))].claims, 1);", "spec->name[at]))].claims, 0);", NAMING),
    Mutant("who is renamed does not gather anew", "passage/rename.c", "        ay__gather_anew(&region->at);\n", "        ay__gather(&region->at);\n", NAMING),
    Mutant("who changed its tag is not met again", "passage/rivals.c", "        revisit_all(at);\n", "        (void)revisit_all;\n", NAMING),
    Mutant("who gathers does not heed the floor", "passage/rivals.c", "    registers_heed_floor(at);\n", "", NAMING),
    Mutant("one whom a region has met is lost among many", "passage/acquaintances.c",
           "        if (before.slot[which].whence != 0)\n", "        if (before.slot[which].whence > 1)\n", NAMING),
    Mutant("two who share a slot are taken for one", "passage/acquaintances.c",
           " && met->slot[slot].whence != place + 1)\n", " && (met->slot[slot].whence & 7) != ((place + 1) & 7))\n", NAMING),
    # a cluster's regions, beside an agent
    Mutant("a permission of before is at hand", "remote/cluster.h",
           """    return granted != 0 &&
           atomic_load_explicit(&region->remote.permission->granted, memory_order_acquire) ==
               granted &&""", "    return granted != 0 &&", "a permission is lost", cluster=True),
    Mutant("a lease that has run out is taken for one", "remote/cluster_wait.c",
           "        !ay__cluster_in_time(region) || cluster->pages->identity", "        cluster->pages->identity", "a lease runs out", cluster=True),
    Mutant("who waits does not sleep on its permission", "remote/cluster_wait.c",
           "    return ay__wait_rest_on(region, &permission->granted, granted, &pages->state, state);",
           "    return ay__wait_rest_on(region, &pages->changes, changes, &pages->state, state);", "a permission is taken back", STUCK, cluster=True),
    Mutant("what was granted meanwhile is not asked for anew", "remote/cluster_wait.c",
           "    if (granted != wait->granted || ay__wait_agent(pages) != wait->agent)",
           "    if (ay__wait_agent(pages) != wait->agent)", "two processes, and a permission is lost and taken back", STUCK, cluster=True),
    Mutant("nobody says what it found", "remote/demand.c", ".granted = region->remote.wait.granted}", ".granted = 0}",
           "a permission is taken back", STUCK, cluster=True),
    Mutant("who wants more stays inside", "remote/cluster_wait.c", "        return CLUSTER_MAKES_WAY;\n    }\n    const bool is_only_watched",
           "        return ay__wait_ask(region, DEMAND_MORE) ? ay__wait_rest_on(region, &permission->granted, granted, &pages->state, state) : CLUSTER_GIVES_UP;\n"
           "    }\n    const bool is_only_watched", "a reader and a writer, beside a reader elsewhere", STUCK, cluster=True),
    Mutant("who has made way does not come back", "remote/cluster_wait.c", "        return CLUSTER_COMES_BACK;", "        return CLUSTER_BEGINS_ANEW;",
           "a reader and a writer, beside a reader elsewhere", cluster=True),
    Mutant("a loss is not looked for when the last name is had", "remote/several_steps.c",
           "    if (!ay__several_stand(region))\n        return begin_anew(region);\n", "", "two names, and the first is lost", "was lost before",
           cluster=True),
    Mutant("one of several names is not looked at", "remote/several_steps.c",
           "    for (unsigned at = 0; at < several->count; at++)\n        if (several->member[at]->remote.needed != PERMISSION_NONE",
           "    for (unsigned at = 1; at < several->count; at++)\n        if (several->member[at]->remote.needed != PERMISSION_NONE",
           "two names, and the first is lost", "was lost before", cluster=True),
    Mutant("who begins anew keeps what it has", "remote/several_steps.c",
           "        give_back(several->member[at]);\n        several->member[at]->at.passage.asked = false;", "        several->member[at]->at.passage.asked = false;",
           "the first of two names is lost, and another waits for it", STUCK, cluster=True),
    Mutant("the era of what it entered by is not looked at", "remote/cluster_lost.c",
           "           permission_era(atomic_load(&permission->granted)) ==\n               permission_era(atomic_load(&region->remote.granted)) &&\n", "",
           "a permission is lost", cluster=True),
    Mutant("units: that its turn is lost is not looked for", "remote/cluster_units.c", "    if (!has_its_turn(region))\n        return lose(region);\n", "",
           "units, and one is lost and another", "was lost before", cluster=True),
    Mutant("units: who has lost its turn keeps what it has", "remote/cluster_units.c",
           "    let_go(region->remote.units, 0);\n    region->at.passage.reason = region->at.passage.give_up;\n    if (wait->tries)",
           "    region->at.passage.reason = region->at.passage.give_up;\n    if (wait->tries)", "units, and one is lost and another", cluster=True),
]
