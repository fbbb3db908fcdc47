// SPDX-License-Identifier: MIT
// A recorded run (`afteryou audit --html`): the judgement, a band chart for each region, and the
// space-time diagram around the first violation.

const REGIONS_MOST = 60,
    WIDTH_LEAST = 300,
    BESIDE = 40; // of a panel, what is no chart

function spanWords(milliseconds) {
    if (milliseconds >= 10000) return duration(milliseconds);
    if (milliseconds >= 1000) return `${(milliseconds / 1000).toPrecision(3)} s`;
    if (milliseconds >= 1) return `${milliseconds.toPrecision(3)} ms`;
    return `${(milliseconds * 1000).toPrecision(3)} µs`;
}

// A name without the space that all have in common.
const shortOf = (run, name) => (name.startsWith(run.common) ? name.slice(run.common.length) : name);

// Of each region who held it and how many waited, from its events in their order.
class Recorded {
    constructor(run) {
        this.run = run;
        this.regions = run.regions.map((name) => ({name, holds: [], queue: [], waiting: 0}));
        this.inside = new Map(); // by process and region
        this.waiting = new Map();
        const times = run.events.map((event) => event.at / 1e6);
        this.from = Math.min(...(times.length ? [times[0]] : [0]));
        this.until = times.reduce((most, each) => Math.max(most, each), this.from + 1e-3);
        for (const event of run.events) this.take(event, event.at / 1e6);
    }

    take(event, at) {
        const {process} = event;
        if (event.event === 'died' || event.event === 'lost') {
            for (const [key, hold] of this.inside)
                if (hold.process === process) {
                    this.end(key, at);
                    hold.died = at;
                }
            for (const [key, region] of this.waiting)
                if (key.startsWith(`${process} `)) this.stopWaiting(key, region, at);
            return;
        }
        const region = this.regions[event.region],
            key = `${process} ${event.region}`;
        if (event.event === 'request') {
            this.waiting.set(key, region);
            region.queue.push({at, count: ++region.waiting});
        } else if (this.waiting.has(key)) this.stopWaiting(key, region, at);
        if (event.event === 'enter') this.begin(event, key, region, at);
        if (event.event === 'leave') this.end(key, at);
    }

    stopWaiting(key, region, at) {
        this.waiting.delete(key);
        region.queue.push({at, count: --region.waiting});
    }

    begin(event, key, region, at) {
        const name = this.run.processes[event.process];
        const hold = {
            process: event.process,
            from: at,
            to: null,
            died: null,
            colour: colourOf(name),
            label: shortOf(this.run, name),
            title: `${name}, ${event.mode}${event.fence === null ? '' : `, fence ${event.fence}`}`,
        };
        region.holds.push(hold);
        this.inside.set(key, hold);
    }

    end(key, at) {
        if (this.inside.has(key)) this.inside.get(key).to = at;
        this.inside.delete(key);
    }
}

class RecordedPage {
    constructor() {
        this.run = JSON.parse(document.getElementById('run').textContent);
        this.recorded = new Recorded(this.run);
        this.charts = make('div', {class: 'regions'});
        this.zoom = make('input', {
            type: 'range',
            min: 0,
            max: 6,
            step: 0.5,
            value: 0,
            id: 'zoom',
            oninput: () => this.show(),
        });
        document
            .getElementById('head')
            .append(
                make('span', {class: 'brand'}, 'afteryou'),
                make('span', {class: 'state-word'}, this.run.file),
                make(
                    'div',
                    {class: 'head-tools'},
                    make('label', {class: 'small', for: 'zoom'}, 'Zoom'),
                    this.zoom,
                    new Theme((theme) => this.dress(theme)).button,
                ),
            );
        const picture = document.getElementById('picture');
        picture.hidden = false;
        document
            .getElementById('main-content')
            .append(
                this.judgement(),
                this.charts,
                make(
                    'section',
                    {class: 'panel', 'aria-label': 'Space and time'},
                    make('h2', {}, 'Space and time'),
                    make(
                        'div',
                        {
                            class: 'scroller',
                            tabindex: '0',
                            role: 'region',
                            'aria-label': 'Space-time diagram',
                        },
                        picture,
                    ),
                ),
            );
        this.show();
        addEventListener('resize', () => beforePaint('charts', () => this.show()));
        document.documentElement.dataset.ready = 'yes';
    }

    // The diagram is a picture with its own style: dark where its root has that class.
    dress(theme) {
        const picture = document.getElementById('spacetime'),
            bare = decodeURIComponent(picture.src).replace('<svg class="dark" ', '<svg '),
            dressed = theme === 'dark' ? bare.replace('<svg ', '<svg class="dark" ') : bare,
            kind = 'data:image/svg+xml,';
        picture.src = kind + encodeURIComponent(dressed.slice(kind.length));
    }

    judgement() {
        const {run} = this;
        return make(
            'section',
            {class: 'panel', 'aria-label': 'Judgement'},
            make(
                'h1',
                {class: run.holds ? 'holds' : 'violated', id: 'verdict'},
                run.holds ? 'All that was judged holds' : 'Violated',
            ),
            make(
                'p',
                {class: 'small'},
                `${plural(run.count, 'event')}; processes: ${run.processes.length}` +
                    `${run.protocol ? `, ${run.protocol}` : ''}`,
                run.events.length < run.told
                    ? `; the first ${run.events.length.toLocaleString('en')} are drawn`
                    : '',
            ),
            run.violations.map((each) =>
                make('p', {class: 'trouble'}, `${each.property}, line ${each.line}: ${each.words}`),
            ),
        );
    }

    show() {
        const {recorded} = this,
            room = Math.max(WIDTH_LEAST, this.charts.clientWidth - BESIDE),
            width = Math.round(room * 2 ** Number(this.zoom.value));
        const busy = recorded.regions
            .filter((region) => region.holds.length || region.queue.length)
            .sort((one, other) => other.holds.length - one.holds.length);
        replace(
            this.charts,
            busy.slice(0, REGIONS_MOST).map((region) =>
                make(
                    'section',
                    {class: 'panel', 'data-region': region.name, 'aria-label': region.name},
                    make(
                        'h2',
                        {},
                        shortOf(this.run, region.name),
                        region.name.startsWith(this.run.common) && this.run.common
                            ? make('span', {class: 'small'}, ` in ${this.run.common.slice(0, -1)}`)
                            : null,
                    ),
                    make(
                        'div',
                        {
                            class: 'scroller chart',
                            tabindex: '0',
                            role: 'region',
                            'aria-label': `Who held ${region.name}`,
                        },
                        new BandChart(
                            region,
                            recorded.from,
                            recorded.until,
                            width,
                            spanWords,
                            true,
                        ).svg(region.name, (at) =>
                            at === recorded.from ? '0' : `+${spanWords(at - recorded.from)}`,
                        ),
                    ),
                ),
            ),
            busy.length > REGIONS_MOST
                ? make('p', {class: 'small'}, `and ${busy.length - REGIONS_MOST} more regions`)
                : null,
        );
    }
}

new RecordedPage();
