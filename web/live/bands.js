// SPDX-License-Identifier: MIT
// A band chart: who held a region, from when to when, and below it how many waited. Time runs to
// the right. Those that are inside together are in lanes of their own.

const BAND_HIGH = 18,
    QUEUE_HIGH = 26,
    AXIS_HIGH = 18,
    LANES_MOST = 8,
    LETTER_WIDE = 6.6;

// Each hold gets the first lane that is free when it begins.
function lanesOf(holds, until) {
    const ends = [];
    let left = 0;
    const laid = [];
    for (const hold of [...holds].sort((one, other) => one.from - other.from)) {
        let lane = ends.findIndex((end) => end <= hold.from);
        if (lane < 0) lane = ends.length;
        if (lane >= LANES_MOST) {
            left++;
            continue;
        }
        ends[lane] = hold.to ?? until;
        laid.push({hold, lane});
    }
    return {laid, lanes: Math.max(1, ends.length), left};
}

// How far apart the marks of the axis are, so that there are at most six.
function stepOf(span) {
    for (let step = 1e-3; span < 1000 && step < 1000; step *= 10)
        for (const times of [1, 2, 5]) if (span / (step * times) <= 6) return step * times;
    const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400];
    return (steps.find((step) => span / (step * 1000) <= 6) || 86400) * 1000;
}

const ago = (milliseconds) =>
    milliseconds < 60000 ? `${milliseconds / 1000} s` : `${milliseconds / 60000} min`;

class BandChart {
    // `kept`: {holds, queue}, of the time from `from` to `until`, in milliseconds, which `lasting`
    // words. The marks of the axis count from the end, or `forward` from the beginning.
    constructor(kept, from, until, width, lasting = duration, forward = false) {
        Object.assign(this, {kept, from, until, width, lasting, forward});
        this.holds = kept.holds.filter((hold) => (hold.to ?? until) >= from && hold.from <= until);
        this.shown = lanesOf(this.holds, until);
    }

    x(at) {
        const within = Math.max(this.from, Math.min(this.until, at));
        return ((within - this.from) / (this.until - this.from)) * this.width;
    }

    svg(name, mark = (at) => (at === this.until ? 'now' : `−${ago(this.until - at)}`)) {
        const top = this.shown.lanes * BAND_HIGH + 4,
            most = this.most(),
            high = top + (most ? QUEUE_HIGH : 0) + AXIS_HIGH;
        return draw(
            'svg',
            {
                class: 'bands',
                viewBox: `0 0 ${this.width} ${high}`,
                width: this.width,
                height: high,
                role: 'img',
                'aria-label': this.words(name, most),
            },
            this.axis(high, mark),
            this.shown.laid.map(({hold, lane}) => this.band(hold, lane)),
            most ? this.queue(top, most) : null,
        );
    }

    words(name, most) {
        const held = plural(this.holds.length, 'holder');
        const span = this.lasting(this.until - this.from);
        return `${name}: ${held} in ${span}, at most ${most} waiting`;
    }

    band(hold, lane) {
        const left = this.x(hold.from),
            right = this.x(hold.to ?? this.until),
            wide = Math.max(1.5, right - left),
            y = lane * BAND_HIGH;
        const lasted = this.lasting((hold.to ?? this.until) - hold.from);
        return draw(
            'g',
            {class: `hold ${hold.colour}${hold.died !== null ? ' died' : ''}`},
            draw('title', {}, `${hold.title}: ${lasted}`),
            draw('rect', {x: left, y, width: wide, height: BAND_HIGH - 3, rx: 2}),
            wide > hold.label.length * LETTER_WIDE + 6
                ? draw('text', {x: left + 4, y: y + BAND_HIGH - 7}, hold.label)
                : null,
            hold.died !== null && hold.died >= this.from
                ? draw('path', {
                      class: 'cross',
                      d: `M${this.x(hold.died) - 4} ${y + 3} l8 8 m0 -8 l-8 8`,
                  })
                : null,
        );
    }

    // The numbers that waited, each until the next.
    counts() {
        const {queue} = this.kept;
        return queue
            .map(({at, count}, index) => ({at, count, to: queue[index + 1]?.at ?? this.until}))
            .filter((each) => each.to > this.from && each.at < this.until);
    }

    most() {
        return this.counts().reduce((most, each) => Math.max(most, each.count), 0);
    }

    queue(top, most) {
        const floor = top + QUEUE_HIGH - 2,
            y = (count) => floor - (count / most) * (QUEUE_HIGH - 8);
        const counts = this.counts();
        const steps = counts.map(
            (each) =>
                `L${this.x(each.at)} ${y(each.count)} L${this.x(each.to)} ${y(each.count)}`,
        );
        return draw(
            'g',
            {class: 'queue'},
            draw('title', {}, `at most ${most} waited`),
            draw('path', {
                d: `M${this.x(counts[0].at)} ${floor} ${steps.join(' ')} L${this.x(
                    counts[counts.length - 1].to,
                )} ${floor} Z`,
            }),
            draw('text', {x: 2, y: floor - 2}, `${most} waiting at most`),
        );
    }

    axis(high, mark) {
        const step = stepOf(this.until - this.from),
            marks = [];
        for (let passed = 0; passed * step <= this.until - this.from; passed++)
            marks.push(
                this.forward ? this.from + passed * step : this.until - passed * step,
            );
        const anchor = (x) => (x < 24 ? 'start' : x > this.width - 24 ? 'end' : 'middle');
        return draw(
            'g',
            {class: 'axis'},
            marks.map((at) => [
                draw('line', {x1: this.x(at), x2: this.x(at), y1: 0, y2: high - AXIS_HIGH + 2}),
                draw(
                    'text',
                    {x: this.x(at), y: high - 4, 'text-anchor': anchor(this.x(at))},
                    mark(at),
                ),
            ]),
        );
    }
}
