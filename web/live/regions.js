// SPDX-License-Identifier: MIT
// The regions: a panel each, with who is inside, the queue in its order, who died inside, slots and
// units as cells, and the last minutes as a band chart. A panel is made anew only when its rows
// have changed; of very many rows, or regions, the first are shown, and more on demand.

const ROWS_AT_FIRST = 30,
    ROWS_MORE = 300,
    PANELS_AT_FIRST = 60,
    PANELS_MORE = 200;

const columnsOf = (cluster) => [
    ...(cluster ? ['Machine'] : []),
    'State',
    'Since',
    'Mode',
    'Fence',
    'Pid',
    'User',
    'Command',
    'Link',
];

// What a row shows, as a text: while it is the same, nothing is to be done.
const signatureOf = (row, linked) =>
    [
        row.key,
        row.state,
        row.fence,
        row.order,
        row.since,
        row.alive,
        row.waits_for,
        row.units,
        row.slots,
        row.of,
        row.key === linked,
    ].join(' ');

class RegionPanel {
    constructor(page, id) {
        this.page = page;
        this.id = id;
        this.limit = ROWS_AT_FIRST;
        this.made = new Map(); // rows that are shown, by their keys: {signature, element}
        this.head = make('div', {class: 'bar'});
        this.cells = make('div');
        this.table = make('div', {class: 'rows'});
        this.chart = make('div', {class: 'chart'});
        this.element = make(
            'section',
            {class: 'panel region', 'data-region': id, tabindex: '-1'},
            this.head,
            this.cells,
            this.table,
            this.chart,
        );
    }

    show(region, rows, kept) {
        const {words, link} = this.page;
        this.kept = kept;
        const linked = rows.findIndex((row) => row.key === link.row);
        if (linked >= this.limit) this.limit = linked + 1;
        const now = [region.version, this.limit, link.row, words].join(' ');
        if (region === this.region && now === this.told) return;
        this.told = now;
        this.region = region;
        this.rows = rows;
        this.element.setAttribute('aria-label', `Region ${region.name}`);
        replace(this.head, this.title(), this.badges());
        replace(this.cells, drawCells(region.rows));
        replace(this.table, this.rowsTable(), this.more());
    }

    title() {
        const {region} = this;
        return make(
            'h3',
            {},
            make(
                'a',
                {
                    href: this.page.linkTo({region: this.id}),
                    'data-key': 'title',
                    class: 'region-name',
                },
                region.name,
            ),
            make('span', {class: 'small'}, ` in ${region.group}`),
        );
    }

    badges() {
        const counts = countsOf(this.region.rows);
        const badge = (state, words) => {
            const count = counts[state];
            return count ? make('span', {class: `badge ${state}`}, `${count} ${words}`) : null;
        };
        return make(
            'p',
            {class: 'badges'},
            badge('died-inside', 'died inside'),
            badge('inside', 'inside'),
            badge('waiting', 'waiting'),
            badge('idle', 'outside'),
        );
    }

    rowsTable() {
        const columns = columnsOf(this.page.situation.cluster);
        return make(
            'table',
            {},
            make('caption', {class: 'unseen'}, `Who is in ${this.region.name}, and who waits`),
            make(
                'thead',
                {},
                make(
                    'tr',
                    {},
                    columns.map((each) => make('th', {scope: 'col'}, each)),
                ),
            ),
            make(
                'tbody',
                {},
                this.rowElements(),
            ),
        );
    }

    // Those that are as they were stay.
    rowElements() {
        const made = new Map();
        for (const row of this.rows.slice(0, this.limit)) {
            let key = row.key; // threads of a process on another machine share theirs
            while (made.has(key)) key += "'";
            const signature = signatureOf(row, this.page.link.row),
                before = this.made.get(key);
            made.set(
                key,
                before?.signature === signature ? before : {signature, element: this.row(row)},
            );
        }
        this.made = made;
        return [...made.values()].map(({element}) => element);
    }

    row(row) {
        const others = row.names.filter((name) => name !== this.region.name);
        const extra = [
            row.units.length ? `units ${row.units.join(', ')}` : '',
            row.take && row.state !== 'inside' ? `wants ${row.take} of ${row.of}` : '',
            row.conditional ? 'on a condition' : '',
            row.priority ? `priority ${row.priority}` : '',
            others.length ? `with ${others.join(' + ')}` : '',
            row.alive || row.state === 'died-inside' ? '' : 'dead',
        ].filter(Boolean);
        return make(
            'tr',
            {
                class: `seat ${row.state}${row.key === this.page.link.row ? ' linked' : ''}`,
                'data-row': row.key,
                'data-state': row.state,
            },
            row.machine ? make('td', {}, row.machine) : null,
            make(
                'td',
                {class: 'state'},
                make('span', {class: `dot ${colourOf(row.key)}`, 'aria-hidden': 'true'}),
                row.state === 'waiting' && row.order
                    ? `waits, number ${row.order}`
                    : STATE_WORDS[row.state],
            ),
            make(
                'td',
                {'data-since': row.since, class: 'since'},
                row.since ? duration(this.page.now() - row.since) : '',
            ),
            make('td', {}, row.mode, extra.length ? ` (${extra.join(', ')})` : ''),
            make('td', {class: 'number'}, row.fence ? String(row.fence) : ''),
            make('td', {class: 'number'}, String(row.pid)),
            make('td', {}, row.user),
            make('td', {class: 'command', title: row.command}, row.command),
            make(
                'td',
                {},
                make(
                    'a',
                    {
                        href: this.page.linkTo({row: row.key}),
                        'data-key': `row-${row.key}`,
                        'aria-label': `Link to pid ${row.pid}`,
                    },
                    '#',
                ),
            ),
        );
    }

    more() {
        const left = this.rows.length - this.limit;
        return left > 0
            ? button(
                  `Show ${Math.min(left, ROWS_MORE)} more of ${left}`,
                  () => {
                      this.limit += ROWS_MORE;
                      this.page.show();
                  },
                  {class: 'more', 'data-key': 'more'},
              )
            : null;
    }

    // How wide its chart is; 0: it is not in sight, and nothing of it is drawn.
    measure() {
        const {top, bottom} = this.element.getBoundingClientRect();
        if (!this.kept || bottom <= -200 || top >= innerHeight + 200) return 0;
        return Math.max(260, Math.floor(this.chart.clientWidth || 600));
    }

    tick(now, minutes, width) {
        replace(
            this.chart,
            new BandChart(this.kept, now - minutes * 60000, now, width).svg(this.region.name),
        );
        for (const cell of this.table.querySelectorAll('.since'))
            if (cell.dataset.since)
                cell.textContent = duration(now - Number(cell.dataset.since));
    }
}

class RegionList {
    constructor(page) {
        this.page = page;
        this.panels = new Map();
        this.limit = PANELS_AT_FIRST;
        this.element = make('div', {class: 'regions'});
        this.more = make('div');
    }

    show(situation, history, fits) {
        const {link, words} = this.page;
        let found = situation.regions.map((region) => [region, region.rows]);
        if (words)
            found = found
                .map(([region, rows]) => [region, rows.filter(fits)])
                .filter(([, rows]) => rows.length);
        const linked =
            link.region || link.row
                ? found.findIndex(
                      ([region, rows]) =>
                          region.id === link.region || rows.some((row) => row.key === link.row),
                  )
                : -1;
        if (linked >= this.limit) this.limit = linked + 1;
        const shown = found.slice(0, this.limit);
        const wanted = new Set(shown.map(([region]) => region.id));
        for (const [id, panel] of this.panels)
            if (!wanted.has(id)) {
                panel.element.remove();
                this.panels.delete(id);
            }
        shown.forEach(([region, rows], at) => {
            const panel = this.panelOf(region.id);
            panel.show(region, rows, history.regions.get(region.id));
            if (this.element.children[at] !== panel.element)
                this.element.insertBefore(panel.element, this.element.children[at] || null);
        });
        this.showMore(found.length);
    }

    panelOf(id) {
        if (!this.panels.has(id)) this.panels.set(id, new RegionPanel(this.page, id));
        return this.panels.get(id);
    }

    showMore(count) {
        const left = count - this.limit;
        replace(
            this.more,
            count === 0
                ? make(
                      'p',
                      {class: 'loading'},
                      this.page.words
                          ? 'Nothing fits.'
                          : 'Nobody is here. Whoever enters a region appears by itself: try ',
                      this.page.words
                          ? null
                          : make('code', {class: 'whole'}, 'afteryou run demo -- sleep 30'),
                  )
                : null,
            left > 0
                ? button(
                      `Show more of ${plural(left, 'region')}`,
                      () => {
                          this.limit += PANELS_MORE;
                          this.page.show();
                      },
                      {class: 'more', 'data-key': 'more'},
                  )
                : null,
        );
    }

    // All are measured before any is drawn: the page is laid out once.
    tick(now, minutes) {
        const inSight = [...this.panels.values()]
            .map((panel) => [panel, panel.measure()])
            .filter(([, width]) => width);
        for (const [panel, width] of inSight) panel.tick(now, minutes, width);
    }
}
