// SPDX-License-Identifier: MIT
// What was seen in the last minutes: of each region, who held it from when to when, and how many
// waited. It is kept here and nowhere else: nobody is watched while no page is open.

const HISTORY_MS = 15 * 60 * 1000,
    SWEEP_MS = 10 * 1000,
    HOLDS_MOST = 600;

class History {
    constructor() {
        this.regions = new Map(); // by its id: {holds, open, queue}
        this.last = 0; // when it was last looked
        this.swept = 0; // when what is old was last forgotten
    }

    of(id) {
        if (!this.regions.has(id))
            this.regions.set(id, {holds: [], open: new Map(), queue: []});
        return this.regions.get(id);
    }

    take(situation) {
        const all = () => new Set([...situation.byId.keys(), ...this.regions.keys()]),
            changed = situation.changed || all();
        for (const id of changed)
            this.takeRegion(this.of(id), situation.byId.get(id)?.rows || [], situation.at);
        this.last = situation.at;
        if (situation.at - this.swept > SWEEP_MS) this.sweep(situation.at);
    }

    // What is old goes, of the regions in which nothing happens, too.
    sweep(at) {
        this.swept = at;
        for (const [id, kept] of this.regions) {
            this.forget(kept, at);
            if (!kept.holds.length && !kept.queue.length) this.regions.delete(id);
        }
    }

    takeRegion(kept, rows, at) {
        const holders = new Map();
        for (const row of rows)
            if (row.state === 'inside' || row.state === 'died-inside') holders.set(row.key, row);
        // What has ended did so since the last look, and before who came then began.
        let over = at;
        for (const {since} of holders.values())
            if (since !== null && since > this.last) over = Math.min(over, since);
        for (const [key, hold] of kept.open) {
            if (holders.get(key)?.fence === hold.fence) continue;
            hold.to = Math.max(hold.from, over);
            kept.open.delete(key);
        }
        for (const [key, row] of holders) {
            const hold = kept.open.get(key) || this.begin(kept, key, row, at);
            if (row.state === 'died-inside' && hold.died === null) hold.died = at;
        }
        const waiting = countsOf(rows).waiting,
            last = kept.queue[kept.queue.length - 1];
        if ((last ? last.count : 0) !== waiting) kept.queue.push({at, count: waiting});
        this.forget(kept, at);
    }

    begin(kept, key, row, at) {
        const hold = {
            key,
            fence: row.fence,
            from: Math.min(at, row.since ?? at),
            to: null, // it is still there
            died: null,
            colour: colourOf(key),
            label: `${row.machine ? `${row.machine} ` : ''}${row.pid}`,
            title: `${row.command || 'pid'} (pid ${row.pid}, ${row.user}), ${row.mode}`,
        };
        kept.holds.push(hold);
        kept.open.set(key, hold);
        return hold;
    }

    forget(kept, at) {
        const oldest = at - HISTORY_MS;
        while (
            kept.holds.length &&
            kept.holds[0].to !== null &&
            (kept.holds[0].to < oldest || kept.holds.length > HOLDS_MOST)
        )
            kept.holds.shift();
        // The last one before the oldest says how many waited then.
        while (kept.queue.length > 1 && kept.queue[1].at < oldest) kept.queue.shift();
        if (kept.queue.length === 1 && kept.queue[0].count === 0 && kept.queue[0].at < oldest)
            kept.queue.shift();
    }
}

// The same one has the same colour wherever it is shown.
function colourOf(text) {
    let sum = 0;
    for (const character of text) sum = (sum * 31 + character.codePointAt(0)) >>> 0;
    return `c${sum % (COLOURS.length - 1)}`;
}
