// SPDX-License-Identifier: MIT
// What `status --json` tells, as the page uses it: a row for each place, and the rows of each
// resource together. A place that has several names is in the queue of each of them.

const RANKS = {'died-inside': 0, inside: 1, waiting: 2, idle: 3};
const STATE_WORDS = {
    'died-inside': 'died inside',
    inside: 'inside',
    waiting: 'waits',
    idle: 'outside',
};

function readRow(seen, group, cluster) {
    const since = seen.since ? Date.parse(seen.since) : null;
    return {
        ...seen,
        group: group.name,
        machine: cluster ? group.name : null,
        since,
        key: [group.name, cluster ? seen.names.join('+') : seen.place, seen.pid].join('/'),
        owner: [group.name, seen.pid_namespace, seen.pid, seen.tid].join('/'),
        text: [
            group.name,
            ...seen.names,
            STATE_WORDS[seen.state],
            seen.mode,
            seen.user,
            seen.pid,
            seen.command,
        ]
            .join(' ')
            .toLowerCase(),
    };
}

const compareRows = (one, other) =>
    RANKS[one.state] - RANKS[other.state] ||
    (one.order || 0) - (other.order || 0) ||
    (one.since || 0) - (other.since || 0) ||
    one.place - other.place;

const collate = new Intl.Collator().compare;
const compareRegions = (one, other) =>
    collate(one.group, other.group) ||
    collate(one.name, other.name) ||
    (one.id < other.id ? -1 : 1);

// What is seen now. It is told whole first, and then what has changed of it: of thousands of places
// a few at a time, and only their regions are made anew.
class Situation {
    constructor(told) {
        this.cluster = told.cluster || null;
        const groups = this.cluster
            ? told.machines.map((machine) => ({...machine, name: machine.machine}))
            : told.spaces;
        this.groups = [];
        this.places = new Map(); // of each group, by its name: rows by their places
        this.byId = new Map();
        this.regions = []; // in the order in which they are shown
        this.changed = null; // the ids of regions that are not as they were; null: all
        this.takeRest(told);
        const added = new Map();
        for (const {seen, ...group} of groups) {
            this.groups.push(group);
            this.places.set(group.name, new Map());
            // Places of other machines have no numbers here.
            seen.forEach((each, at) =>
                this.add(group, this.cluster ? at : each.place, each, added),
            );
        }
        this.settle(added, new Set(added.keys()));
        this.regions.sort(compareRegions);
    }

    takeRest(told) {
        this.at = Date.parse(told.time);
        this.removed = told.removed || [];
        this.unreadable = told.unreadable || [];
    }

    // The ids of the regions in which a row is: of a cluster, a region is one on all machines.
    idsOf(row) {
        return row.names.map((name) => `${this.cluster || row.group}/${name}`);
    }

    add(group, place, seen, added) {
        const row = readRow(seen, group, this.cluster);
        this.places.get(group.name).set(place, row);
        for (const id of this.idsOf(row)) {
            if (!added.has(id)) added.set(id, []);
            added.get(id).push(row);
        }
    }

    remove(rows, place, dirty) {
        const row = rows.get(place);
        if (!row) return;
        rows.delete(place);
        row.gone = true;
        for (const id of this.idsOf(row)) dirty.add(id);
    }

    change(told) {
        const added = new Map(),
            dirty = new Set();
        this.takeRest(told);
        for (const {seen, gone, orders, ...group} of told.spaces) {
            const rows = this.places.get(group.name);
            this.groups[this.groups.findIndex((each) => each.name === group.name)] = group;
            for (const place of gone) this.remove(rows, place, dirty);
            for (const [place, order] of orders) {
                const row = rows.get(place);
                row.order = order;
                for (const id of this.idsOf(row)) dirty.add(id);
            }
            for (const each of seen) {
                this.remove(rows, each.place, dirty);
                this.add(group, each.place, each, added);
            }
        }
        for (const id of added.keys()) dirty.add(id);
        this.changed = dirty;
        this.settle(added, dirty);
    }

    // The regions that have changed: without who is gone, with who was added, in their order.
    settle(added, dirty) {
        for (const id of dirty) {
            const news = added.get(id) || [];
            let region = this.byId.get(id);
            if (!region && news.length) region = this.begin(id, news[0]);
            if (!region) continue;
            region.version++;
            region.rows = region.rows.filter((row) => !row.gone).concat(news).sort(compareRows);
            if (region.rows.length === 0) {
                this.byId.delete(id);
                this.regions.splice(this.find(region), 1);
            }
        }
    }

    begin(id, row) {
        const group = this.cluster || row.group,
            region = {id, group, name: id.slice(group.length + 1), rows: [], version: 0};
        this.byId.set(id, region);
        // The first ones are sorted together, at the end.
        if (this.changed) this.regions.splice(this.find(region), 0, region);
        else this.regions.push(region);
        return region;
    }

    // Where it is in the list, or belongs.
    find(region) {
        let low = 0,
            high = this.regions.length;
        while (low < high) {
            const middle = (low + high) >> 1,
                other = this.regions[middle];
            if (other !== region && compareRegions(other, region) < 0) low = middle + 1;
            else high = middle;
        }
        return low;
    }

    *rows() {
        for (const rows of this.places.values()) yield* rows.values();
    }

    rowAt(group, place) {
        return this.places.get(group)?.get(place);
    }
}

// How many are in each state.
function countsOf(rows, fits = () => true) {
    const counts = {'died-inside': 0, inside: 0, waiting: 0, idle: 0};
    for (const row of rows) if (fits(row)) counts[row.state]++;
    return counts;
}

// Every word must be somewhere in the row.
function filterOf(words) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    return (row) => wanted.every((word) => row.text.includes(word));
}

function duration(milliseconds) {
    const seconds = Math.max(0, Math.floor(milliseconds / 1000));
    if (seconds < 60) return `${seconds} s`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
    if (seconds < 86400)
        return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
    return `${Math.floor(seconds / 86400)} d ${Math.floor((seconds % 86400) / 3600)} h`;
}
