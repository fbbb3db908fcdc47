// SPDX-License-Identifier: MIT
// The run as a space-time diagram: a lane for each process, time to the right. Waiting, inside and
// dead are bands; a store is a square, a fetch a circle with an arrow from the store that it read;
// a message is an arrow.

const LANE = 62,
    TOP = 40,
    LEFT = 64,
    LETTER_WIDE = 5.8; // of a value

const LINK_MARKS = {says: 'say', doubts: '?', dials: '+', accepts: '+', closes: '×', sends: '→'};

// For each fetch the index of the move that stored what it read, which the engine tells; for each
// receipt that of its send. −1: none. A step's origin depends on what came before it alone, so it
// is kept there, with the send that it used.
function origins(steps) {
    let first = steps.length;
    while (first && steps[first - 1].origin === undefined) first--;
    const sent = new Set(steps.slice(0, first).map((step) => step.used));
    for (let at = first; at < steps.length; at++) {
        const step = steps[at];
        step.origin = step.access
            ? (step.access.from ?? -1)
            : step.text.startsWith('receives')
              ? receiptOrigin(steps, step, at, sent)
              : -1;
        sent.add(step.used);
    }
    return steps.map((step) => step.origin);
}

// Of a link, "receives NUMBER, the other having taken TAKEN, WAY": the earliest such send of the
// other end that no earlier receipt has used; over a connection, since that was dialled.
function linkOrigin(steps, step, at, sent) {
    const [, packet, taken, way] = /^receives (\d+), the other having taken (\d+), ([\w ]+)/.exec(
        step.text,
    );
    const says = `sends ${packet}, having taken ${taken}, ${way}`;
    let first = -1;
    for (let earlier = at - 1; earlier >= 0; earlier--) {
        if (steps[earlier].text === `dials ${way.replace('over ', '')}`) break;
        if (
            steps[earlier].process !== step.process &&
            steps[earlier].text.split('; ').includes(says) &&
            !sent.has(`${earlier} ${way}`)
        )
            first = earlier;
    }
    step.used = `${first} ${way}`;
    return first;
}

// "receives KIND from N": the earliest such send of N to this node that no earlier receipt has
// used.
function receiptOrigin(steps, step, at, sent) {
    const found = /^receives (\w+) from (\d+)/.exec(step.text);
    if (!found) return linkOrigin(steps, step, at, sent);
    const [, kind, from] = found;
    for (let earlier = 0; earlier < at; earlier++) {
        const key = `${earlier} ${kind} ${step.process}`;
        const says =
            steps[earlier].process === Number(from) &&
            steps[earlier].text
                .split(';')
                .some(
                    (part) =>
                        part.startsWith(` sends ${kind}`) && part.includes(`→${step.process}`),
                );
        if (says && !sent.has(key)) {
            step.used = key;
            return earlier;
        }
    }
    return -1;
}

// The bands of one process: [{from, to, status}], in numbers of moves.
function bandsOf(session, process) {
    const bands = [];
    let dead = false;
    for (let at = 0; at <= session.steps.length; at++) {
        const step = at ? session.steps[at - 1] : null;
        if (step && step.process === process)
            dead = step.move[1] === 'd' || (dead && !'bf'.includes(step.move[1]));
        const status = session.statuses(at)[process];
        const kind = dead && status === 'idle' ? 'dead' : WAITING.has(status) ? 'waits' : status;
        const last = bands[bands.length - 1];
        if (last && last.kind === kind) last.to = at + 1;
        else bands.push({kind, from: at, to: at + 1});
    }
    return bands;
}

class Diagram {
    // Of a long run only the moves from `first` on, and before `last`, are drawn: those in sight.
    constructor(session, width, first = 0, last = Infinity) {
        this.session = session;
        this.width = width;
        this.first = Math.max(0, first);
        this.last = Math.min(session.steps.length, last);
        this.gaps = this.gapsOfStores();
    }

    // Of each store in sight, how many moves it is from the nearest other one of its process: so
    // much room its value has.
    gapsOfStores() {
        const gaps = new Map(),
            latest = new Map();
        for (let at = this.first; at < this.last; at++) {
            const {process, access} = this.session.steps[at];
            if (access?.kind !== 'write') continue;
            const before = latest.get(process),
                gap = before === undefined ? Infinity : at - before;
            gaps.set(at, gap);
            if (before !== undefined) gaps.set(before, Math.min(gaps.get(before), gap));
            latest.set(process, at);
        }
        return gaps;
    }

    // Of a store, as much of its value as there is room for.
    valueAt(at) {
        if (!this.gaps.has(at) || this.width <= 30) return '';
        const value = this.session.steps[at].access.value.replace(/\w+=/g, ''),
            letters = Math.floor((Math.min(3, this.gaps.get(at)) * this.width - 4) / LETTER_WIDE);
        return value.length > letters ? `${value.slice(0, letters - 1)}…` : value;
    }

    // Where move number `at` (from 0) is.
    x(at) {
        return LEFT + (at + 0.75) * this.width;
    }

    y(process) {
        return TOP + (process + 0.5) * LANE;
    }

    svg(choose) {
        const picture = new Picture();
        this.drawInto(picture, choose);
        return picture.svg;
    }

    // The picture shows this from here on; `choose` is called with the move that was clicked.
    drawInto(picture, choose) {
        const {session} = this,
            {steps} = session,
            processes = session.info.processes;
        const wide = this.x(steps.length) + 40,
            high = TOP + processes * LANE + 30;
        const from = origins(steps);
        picture.size(wide, high, `Space-time diagram of ${plural(steps.length, 'move')}`);
        picture.put(
            'lanes',
            Array.from({length: processes}, (_, process) => this.lane(process, wide)),
        );
        picture.put(
            'below',
            this.violations(high),
            session.loop !== null ? this.loop(high) : null,
        );
        const here = `${this.width} ${session.words}`,
            later = (at) => (at >= session.at ? 'later' : '');
        const each = (key, make) => {
            const all = [];
            for (let at = this.first; at < this.last; at++)
                all.push({at, step: steps[at], key: key(at), make: () => make(at)});
            return all;
        };
        picture.keep(
            'arrows',
            each(
                (at) => `${here} ${later(at)}`,
                (at) => (from[at] >= 0 ? this.arrow(from[at], at) : null),
            ),
        );
        picture.keep(
            'marks',
            each(
                (at) => `${here} ${later(at)} ${this.valueAt(at)}`,
                (at) => this.mark(at, choose),
            ),
        );
        const x = this.x(session.at - 0.5);
        picture.put(
            'above',
            draw('line', {class: 'now', x1: x, x2: x, y1: TOP - 14, y2: high - 22}),
            draw('text', {class: 'now-text', x, y: TOP - 20}, 'now'),
            this.names(high),
        );
    }

    lane(process, wide) {
        const y = this.y(process);
        const bands = bandsOf(this.session, process).filter(
            (band) => band.to > this.first && band.from <= this.last,
        );
        return draw(
            'g',
            {},
            draw('line', {class: 'lane', x1: LEFT - 8, x2: wide - 8, y1: y, y2: y}),
            bands.map((band) => this.band(band, process, y)),
        );
    }

    // They stay in sight: whoever scrolls moves them along.
    names(high) {
        return draw(
            'g',
            {class: 'lane-names'},
            draw('rect', {x: 0, y: TOP, width: LEFT - 10, height: high - TOP - 26}),
            Array.from({length: this.session.info.processes}, (_, process) => [
                draw('circle', {cx: 14, cy: this.y(process), r: 6, fill: COLOURS[process]}),
                draw(
                    'text',
                    {class: 'lane-name', x: 26, y: this.y(process) + 5},
                    shortNameOf(this.session, process),
                ),
            ]),
        );
    }

    band({kind, from, to}, process, y) {
        const left = Math.max(LEFT - 8, this.x(from - 1)),
            right = Math.min(this.x(to - 1), this.x(this.session.steps.length - 0.4));
        if (right <= left || kind === 'idle') return null;
        const half = kind === 'inside' ? 17 : kind === 'dead' ? 10 : 12;
        const fill =
            kind === 'waits'
                ? `url(#waits-${process})`
                : kind === 'inside'
                  ? COLOURS[process]
                  : kind === 'dead' || kind === 'halted'
                    ? 'none'
                    : COLOURS[process];
        const roomy = right - left > 44;
        return draw(
            'g',
            {class: `band ${kind}`},
            draw('rect', {
                x: left,
                y: y - half,
                width: right - left,
                height: 2 * half,
                rx: 5,
                fill,
                opacity: kind === 'leaving' || kind === 'malfunction' ? 0.25 : null,
            }),
            roomy && kind !== 'leaving'
                ? draw(
                      'text',
                      {class: 'band-name', x: left + 5, y: y - half - 4},
                      kind === 'malfunction' ? 'malfunctions' : kind,
                  )
                : null,
        );
    }

    mark(at, choose) {
        const step = this.session.steps[at],
            x = this.x(at),
            y = this.y(step.process);
        const kind =
            step.move[1] === 'd' ? 'dies' : step.access?.kind === 'write' ? 'store' : 'fetch';
        const label =
            this.session.info.kind === 'link'
                ? wordOf(step.text, LINK_MARKS, '')
                : this.session.info.kind === 'messages'
                  ? {b: 'req', s: 'rel', f: 'join'}[step.move[1]] || ''
                  : step.access?.label || {f: '!'}[step.move[1]] || '';
        const shape =
            kind === 'dies'
                ? draw('path', {d: `M${x - 7} ${y - 7} l14 14 m0 -14 l-14 14`})
                : kind === 'store'
                  ? draw('rect', {x: x - 10, y: y - 10, width: 20, height: 20, rx: 3})
                  : draw('circle', {cx: x, cy: y, r: 10});
        const value = kind === 'store' ? this.valueAt(at) : '';
        return draw(
            'g',
            {
                class: [
                    'mark',
                    kind,
                    at >= this.session.at ? 'later' : '',
                    step.stays ? 'stays' : '',
                ].join(' '),
                onclick: choose ? () => choose(at + 1) : null,
                style: `--own:${COLOURS[step.process]}`,
            },
            draw('title', {}, `${at + 1}. ${nameOf(this.session, step.process)} ${step.text}`),
            shape,
            kind !== 'dies' && this.width > 26
                ? draw('text', {x, y: y + 4}, label.length > 3 ? label.slice(0, 2) : label)
                : null,
            value ? draw('text', {class: 'value', x, y: y + 26}, value) : null,
        );
    }

    arrow(from, to) {
        const start = this.session.steps[from],
            end = this.session.steps[to];
        if (start.process === end.process) return null;
        const x1 = this.x(from),
            y1 = this.y(start.process),
            x2 = this.x(to),
            y2 = this.y(end.process);
        const down = y2 > y1 ? 1 : -1;
        const a = [x1, y1 + 11 * down],
            b = [x2, y2 - 12 * down],
            message = !end.access;
        const kind = message ? /^receives (\w+)/.exec(end.text)[1] : '';
        const angle = Math.atan2(b[1] - a[1], b[0] - a[0]);
        const tip = (turn) =>
            `${b[0] - 8 * Math.cos(angle + turn)},${b[1] - 8 * Math.sin(angle + turn)}`;
        return draw(
            'g',
            {
                class: `read${to >= this.session.at ? ' later' : ''}${message ? ' message' : ''}`,
                style: `--own:${COLOURS[start.process]}`,
            },
            draw('line', {x1: a[0], y1: a[1], x2: b[0], y2: b[1]}),
            draw('polygon', {points: `${b[0]},${b[1]} ${tip(0.4)} ${tip(-0.4)}`}),
            message && this.width > 30
                ? draw('text', {x: (a[0] + b[0]) / 2 + 4, y: (a[1] + b[1]) / 2 - 3}, kind)
                : null,
        );
    }

    violations(high) {
        const first = this.session.firstBroken();
        if (first < this.first || first >= this.last) return null;
        const x = this.x(first);
        return draw(
            'g',
            {class: 'violation'},
            draw('rect', {
                x: x - this.width / 2,
                y: TOP - 12,
                width: this.width,
                height: high - TOP - 14,
                rx: 6,
            }),
            draw('text', {x, y: high - 6}, `✗ ${brokenWords(this.session.steps[first].broken)}`),
        );
    }

    loop(high) {
        const x1 = this.x(this.session.loop) - this.width / 2,
            x2 = this.x(this.session.steps.length) - this.width / 2,
            y = high - 20;
        return draw(
            'g',
            {class: 'loop'},
            draw('path', {d: `M${x2} ${y} L${x1} ${y} m8 -5 l-8 5 l8 5`}),
            draw('text', {x: (x1 + x2) / 2, y: y + 15}, 'again and again'),
        );
    }
}
