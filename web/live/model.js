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
        // Places of other machines have no numbers here.
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

function regionsOf(rows, cluster) {
    const regions = new Map();
    for (const row of rows)
        for (const name of row.names) {
            const group = cluster || row.group,
                id = `${group}/${name}`;
            if (!regions.has(id)) regions.set(id, {id, group, name, rows: []});
            regions.get(id).rows.push(row);
        }
    for (const region of regions.values()) region.rows.sort(compareRows);
    return [...regions.values()].sort(
        (one, other) =>
            one.group.localeCompare(other.group) || one.name.localeCompare(other.name),
    );
}

// A situation: what was seen at one moment.
function readDocument(text) {
    const told = JSON.parse(text),
        cluster = told.cluster || null;
    const groups = cluster
        ? told.machines.map((machine) => ({...machine, name: machine.machine}))
        : told.spaces;
    const rows = groups.flatMap((group) => group.seen.map((seen) => readRow(seen, group, cluster)));
    return {
        cluster,
        groups,
        rows,
        at: Date.parse(told.time),
        regions: regionsOf(rows, cluster),
        removed: told.removed || [],
        unreadable: told.unreadable || [],
    };
}

const counted = (rows, state) => rows.filter((row) => row.state === state).length;

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
