// SPDX-License-Identifier: MIT
// The page: its head, what was seen last, and what of it is shown. The fragment of the URL holds
// the filter, and the row or region that a link leads to.

const MINUTES = [1, 5, 15];

class Page {
    constructor() {
        this.history = new History();
        this.situation = null;
        this.minutes = 5;
        this.ahead = 0; // of this browser's clock, the server's, in milliseconds
        this.link = {};
        this.words = '';
        this.regions = new RegionList(this);
        this.graph = new WaitGraph();
        this.around = new Surroundings();
        this.state = make('span', {id: 'state', class: 'state-word'}, 'connecting …');
        this.totals = make('p', {id: 'totals', class: 'totals'});
        this.readLink();
        this.makeHead();
        addEventListener('hashchange', () => {
            this.readLink();
            this.filter.value = this.words;
            this.show();
            this.goToLink();
        });
        setInterval(() => this.tick(), 1000);
        addEventListener('resize', () => this.tick());
        addEventListener('scroll', () => beforePaint('tick', () => this.tick()), {passive: true});
        this.stream = new Stream(
            (text, isChange) => this.take(text, isChange),
            (state, words) => this.tell(state, words),
        );
    }

    makeHead() {
        this.filter = make('input', {
            type: 'search',
            id: 'filter',
            placeholder: 'Filter: name, pid, user, command …',
            'aria-label': 'Filter',
            value: this.words,
            oninput: () => {
                this.words = this.filter.value;
                history.replaceState(null, '', this.linkTo({}));
                this.link = {};
                this.show();
            },
        });
        this.filter.value = this.words;
        const span = make(
            'select',
            {
                id: 'span',
                'aria-label': 'How much of the past is shown',
                onchange: (event) => {
                    this.minutes = Number(event.target.value);
                    this.tick();
                },
            },
            MINUTES.map((each) =>
                make('option', {value: each, selected: each === this.minutes}, `${each} min`),
            ),
        );
        this.pause = button(
            'Pause',
            () => {
                const paused = this.pause.getAttribute('aria-pressed') !== 'true';
                this.pause.setAttribute('aria-pressed', String(paused));
                this.pause.textContent = paused ? 'Go on' : 'Pause';
                this.stream.pause(paused);
            },
            {id: 'pause', class: 'quiet', 'aria-pressed': 'false'},
        );
        document
            .getElementById('head')
            .append(
                make('span', {class: 'brand'}, 'afteryou'),
                this.state,
                this.filter,
                make('div', {class: 'head-tools'}, span, this.pause, new Theme().button),
            );
    }

    // ---- links ----

    readLink() {
        const asked = new URLSearchParams(location.hash.slice(1));
        this.words = (asked.get('filter') || '').slice(0, 200);
        this.link = {row: asked.get('row'), region: asked.get('region')};
    }

    linkTo(what) {
        const asked = new URLSearchParams();
        if (this.words) asked.set('filter', this.words);
        for (const [name, value] of Object.entries(what)) asked.set(name, value);
        return `#${asked}`;
    }

    goToLink() {
        const {row, region} = this.link;
        const target = row
            ? document.querySelector(`[data-row="${CSS.escape(row)}"]`)
            : region
              ? document.querySelector(`[data-region="${CSS.escape(region)}"]`)
              : null;
        if (target) target.scrollIntoView({block: 'center'});
        else if (row || region)
            tell(`What this link leads to is not here (any more): ${row || region}`);
        for (const each of document.querySelectorAll('.linked')) each.classList.remove('linked');
        if (target) target.classList.add('linked');
    }

    // ---- what comes ----

    tell(state, words) {
        this.state.dataset.state = state;
        this.state.textContent = state === 'lost' ? `not live: ${words}` : words;
        document.body.classList.toggle('not-live', state !== 'live');
    }

    now() {
        return Date.now() + this.ahead;
    }

    take(text, isChange) {
        const first = !this.situation,
            told = JSON.parse(text);
        if (isChange) this.situation.change(told);
        else this.situation = new Situation(told);
        this.ahead = this.situation.at - Date.now();
        this.history.take(this.situation);
        if (first)
            document
                .getElementById('main-content')
                .replaceChildren(
                    make(
                        'div',
                        {class: 'page'},
                        make('h1', {class: 'unseen'}, 'Who holds what, and who waits'),
                        this.totals,
                        this.graph.element,
                        this.regions.element,
                        this.regions.more,
                        this.around.element,
                    ),
                );
        this.show();
        if (first) this.goToLink();
        document.documentElement.dataset.ready = 'yes';
    }

    show() {
        if (!this.situation) return;
        const fits = filterOf(this.words);
        this.showTotals(fits);
        this.graph.show(this.situation, fits);
        this.regions.show(this.situation, this.history, fits);
        this.around.show(this.situation);
        beforePaint('tick', () => this.tick());
    }

    showTotals(fits) {
        const counts = countsOf(this.situation.rows(), fits);
        const total = (state, words) =>
            make(
                'span',
                {class: `total ${counts[state] ? state : ''}`, 'data-total': state},
                make('strong', {}, counts[state].toLocaleString('en')),
                ` ${words}`,
            );
        const parts = [
            total('inside', 'inside'),
            total('waiting', 'waiting'),
            total('died-inside', 'died inside'),
            total('idle', 'outside'),
        ];
        const words = parts.map((each) => each.textContent).join(', ');
        if (words === this.toldTotals) return;
        this.toldTotals = words;
        replace(this.totals, parts);
    }

    tick() {
        if (this.situation && !document.hidden) this.regions.tick(this.now(), this.minutes);
    }
}

new Page();
