// SPDX-License-Identifier: MIT
// Who waits for whom: a box for each thread, an arrow to whom it waits for. A circle of them is a
// deadlock, and red.

const BOX_WIDE = 132,
    BOX_HIGH = 34,
    COLUMN_WIDE = 176,
    ROW_HIGH = 46,
    LEFT_WIDE = 64,
    BOXES_MOST = 80,
    LIST_MOST = 500;

// Of each place in a circle, the next one there: it waits for what that one's thread holds.
function circlesOf(groups) {
    const next = new Map();
    for (const group of groups)
        for (const circle of group.cycles || [])
            circle.forEach((place, at) =>
                next.set(`${group.name}/${place}`, circle[(at + 1) % circle.length]),
            );
    return next;
}

// A thread waits in one place at a time, so that there is one arrow from each.
function waitsOf(situation) {
    const circles = circlesOf(situation.groups),
        waits = new Map();
    for (const row of situation.rows()) {
        if (row.state !== 'waiting' || row.waits_for === null) continue;
        const next = circles.get(`${row.group}/${row.place}`),
            other = situation.rowAt(row.group, next ?? row.waits_for);
        if (other)
            waits.set(row.owner, {row, other, to: other.owner, circle: next !== undefined});
    }
    return waits;
}

// Boxes by what they wait for: column 0 waits for nobody, or is in a circle.
function layOut(waits) {
    const behind = new Map(),
        boxes = new Map();
    for (const [from, {to}] of waits) {
        if (!behind.has(to)) behind.set(to, []);
        behind.get(to).push(from);
    }
    const isFirst = (owner) => !waits.has(owner) || waits.get(owner).circle;
    // Circles come first, each together.
    const [circle, others] = [true, false].map((wanted) =>
        [...waits.values()].filter((each) => each.circle === wanted).map((each) => each.to),
    );
    const first = [...new Set([...circle, ...others])].filter(isFirst);
    let row = 0,
        left = 0;
    const place = (start) => {
        // Without recursion: a queue may be thousands long.
        const open = [[start, 0]];
        let lowest = row;
        while (open.length) {
            const [owner, column] = open.pop();
            if (boxes.has(owner)) continue;
            if (boxes.size >= BOXES_MOST) {
                left++;
                continue;
            }
            if ([...boxes.values()].some((box) => box.column === column && box.row === row))
                row = lowest + 1;
            lowest = Math.max(lowest, row);
            boxes.set(owner, {column, row});
            for (const next of (behind.get(owner) || []).filter((each) => !isFirst(each)).reverse())
                open.push([next, column + 1]);
        }
        row = lowest + 1;
    };
    first.forEach(place);
    return {boxes, left, rows: row};
}

const boxX = (box) => LEFT_WIDE + box.column * COLUMN_WIDE,
    boxY = (box) => 8 + box.row * ROW_HIGH;

class WaitGraph {
    constructor() {
        this.element = make('section', {
            class: 'panel graph',
            'aria-label': 'Who waits for whom',
            hidden: true, // until somebody waits
        });
        this.told = '';
        this.listed = false; // the list is open
    }

    show(situation, fits) {
        const all = waitsOf(situation);
        const waits = new Map(
            [...all].filter(([, each]) => fits(each.row) || fits(each.other) || each.circle),
        );
        const signature = [...waits].map(([from, each]) => `${from}>${each.to}${each.circle}`);
        if (signature.join() === this.told) return;
        this.told = signature.join();
        this.element.hidden = waits.size === 0;
        if (!waits.size) return;
        const names = new Map();
        for (const each of waits.values()) {
            names.set(each.row.owner, each.row);
            if (!names.has(each.to)) names.set(each.to, each.other);
        }
        replace(
            this.element,
            make('h2', {}, 'Who waits for whom'),
            this.deadlocks(waits),
            make(
                'div',
                {class: 'scroller', tabindex: '0', role: 'region', 'aria-label': 'Graph of waits'},
                this.picture(waits, names),
            ),
            this.list(waits),
        );
    }

    deadlocks(waits) {
        const circle = [...waits.values()].filter((each) => each.circle);
        return circle.length
            ? make(
                  'p',
                  {class: 'deadlock', role: 'alert'},
                  'Deadlock: ',
                  circle
                      .map(
                          (each) =>
                              `pid ${each.row.pid} waits for '${each.row.names.join(' + ')}' ` +
                              `after pid ${each.other.pid}`,
                      )
                      .join(', '),
              )
            : null;
    }

    picture(waits, names) {
        const laid = layOut(waits),
            boxes = [...laid.boxes.entries()];
        const wide =
                Math.max(...boxes.map(([, box]) => boxX(box))) + BOX_WIDE + (laid.left ? 150 : 20),
            high = laid.rows * ROW_HIGH + 16;
        return draw(
            'svg',
            {
                class: 'waits',
                viewBox: `0 0 ${wide} ${high}`,
                width: wide,
                height: high,
                role: 'img',
                'aria-label': `${plural(waits.size, 'wait')}; the list below tells them`,
            },
            boxes.map(([owner]) => this.arrow(owner, waits.get(owner), laid.boxes)),
            boxes.map(([owner, box]) => this.box(names.get(owner), box, waits.get(owner)?.circle)),
            laid.left
                ? draw(
                      'text',
                      {class: 'left-out', x: wide - 140, y: high - 14},
                      `and ${laid.left} more behind`,
                  )
                : null,
        );
    }

    box(row, box, circle) {
        const x = boxX(box),
            y = boxY(box);
        const words = `${STATE_WORDS[row.state]}: ${row.names.join(' + ')}`;
        return draw(
            'g',
            {class: `box ${row.state}${circle ? ' circle' : ''}`},
            draw('title', {}, `pid ${row.pid}: ${row.command}`),
            draw('rect', {x, y, width: BOX_WIDE, height: BOX_HIGH, rx: 7}),
            draw('text', {class: 'who', x: x + 8, y: y + 14}, `pid ${row.pid}`),
            draw(
                'text',
                {class: 'what', x: x + 8, y: y + 27},
                words.length > 21 ? `${words.slice(0, 20)}…` : words,
            ),
        );
    }

    // To the left, where whom it waits for is; in a circle, around.
    arrow(owner, wait, boxes) {
        if (!wait || !boxes.has(wait.to)) return null;
        const from = boxes.get(owner),
            to = boxes.get(wait.to);
        const x1 = boxX(from),
            y1 = boxY(from) + BOX_HIGH / 2,
            around = wait.circle,
            x2 = boxX(to) + (around ? 0 : BOX_WIDE),
            y2 = boxY(to) + BOX_HIGH / 2 + (around ? (y1 < y2Of(to) ? -8 : 8) : 0);
        const bend = around ? 20 + 8 * Math.abs(from.row - to.row) : 0;
        const curve = around
            ? `C${x1 - bend} ${y1} ${x2 - bend} ${y2} ${x2 - 3} ${y2}`
            : `C${x1 - 20} ${y1} ${x2 + 24} ${y2} ${x2 + 3} ${y2}`;
        const tip = around ? -8 : 8;
        return draw(
            'g',
            {class: `wait${around ? ' circle' : ''}`},
            draw('title', {}, `waits for ${wait.row.names.join(' + ')}`),
            draw('path', {class: 'line', d: `M${x1} ${y1} ${curve}`}),
            draw('path', {class: 'tip', d: `M${x2} ${y2} l${tip} -4 l0 8 Z`}),
        );
    }

    // It is made when it is opened, and stays open.
    list(waits) {
        const list = make('ul'),
            fill = () =>
                list.replaceChildren(
                    ...[...waits.values()].slice(0, LIST_MOST).map((each) =>
                        make(
                            'li',
                            {class: each.circle ? 'circle' : null},
                            `pid ${each.row.pid} waits for '${each.row.names.join(' + ')}' ` +
                                `after pid ${each.other.pid}`,
                        ),
                    ),
                    waits.size > LIST_MOST
                        ? make('li', {}, `and ${waits.size - LIST_MOST} more`)
                        : '',
                );
        if (this.listed) fill();
        return make(
            'details',
            {
                open: this.listed,
                ontoggle: (event) => {
                    if (event.target.open && !this.listed) fill();
                    this.listed = event.target.open;
                },
            },
            make('summary', {'data-key': 'list'}, 'As a list'),
            list,
        );
    }
}

const y2Of = (box) => boxY(box) + BOX_HIGH / 2;
