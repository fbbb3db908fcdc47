// SPDX-License-Identifier: MIT
// The diagram's panel: zoom, and the picture as a file.

const BESIDE_MOVES = 12; // that are drawn beside those in sight

class DiagramView {
    constructor(session) {
        this.session = session;
        this.zoom = 46;
        // Where the scroller was when it was last measured, and when it was last drawn.
        this.seen = this.drawn = {left: 0, width: 900};
        this.picture = new Picture();
        this.scroller = make(
            'div',
            {
                class: 'scroller',
                tabindex: '0',
                role: 'region',
                'aria-label': 'Space-time diagram',
            },
            this.picture.svg,
        );
        const tools = make(
            'div',
            {class: 'tools'},
            button('−', () => this.scale(1 / 1.3), {'aria-label': 'Zoom out'}),
            button('+', () => this.scale(1.3), {'aria-label': 'Zoom in'}),
            button('Fit', () => this.fit(), {}),
            button('Save as SVG', () => this.save(), {}),
        );
        this.key = make('p', {class: 'key'});
        this.element = make(
            'section',
            {class: 'panel spacetime', 'aria-label': 'Space and time'},
            make('div', {class: 'bar'}, make('h2', {}, 'Space and time'), tools),
            this.scroller,
            this.key,
        );
        this.scroller.addEventListener('scroll', () =>
            this.look({left: this.scroller.scrollLeft, width: this.scroller.clientWidth}),
        );
        this.scroller.addEventListener(
            'wheel',
            (event) => {
                if (!event.ctrlKey) return;
                event.preventDefault();
                this.scale(event.deltaY < 0 ? 1.1 : 1 / 1.1);
            },
            {passive: false},
        );
    }

    scale(by) {
        this.zoom = Math.max(10, Math.min(120, this.zoom * by));
        this.show();
    }

    fit() {
        this.zoom = Math.max(
            10,
            Math.min(
                90,
                (this.scroller.clientWidth - LEFT - 60) /
                    Math.max(1, this.session.steps.length + 1),
            ),
        );
        this.show();
    }

    show() {
        this.showKey();
        this.draw();
        beforePaint('diagram', () => this.follow());
    }

    // What the shapes mean: of registers, or of messages.
    showKey() {
        const {kind} = this.session.info;
        if (this.keyOf === kind) return;
        this.keyOf = kind;
        const sample = (kind, words) => [make('span', {class: `sample ${kind}`}), words];
        replace(
            this.key,
            sample('waits', kind === 'link' ? 'not all that it said is taken' : 'waits'),
            kind === 'link' ? [] : [sample('inside', 'inside'), sample('dead', 'dead')],
            kind !== 'registers'
                ? make('span', {}, 'an arrow: a message, from its sender to where it arrived')
                : [
                      sample('square', 'store'),
                      sample('round', 'fetch; its arrow comes from the store that it read'),
                  ],
        );
    }

    // The present move comes into sight.
    follow() {
        const {scroller, session} = this,
            x = LEFT + (session.at + 0.75) * this.zoom,
            {scrollLeft, clientWidth, scrollWidth} = scroller;
        let left = scrollLeft;
        if (x > left + clientWidth - 60 || x < left + LEFT)
            left = Math.max(0, Math.min(scrollWidth - clientWidth, x - clientWidth * 0.7));
        return () => {
            if (left !== scrollLeft) scroller.scrollLeft = left;
            this.look({left, width: clientWidth});
        };
    }

    // Draws again if what is in sight has moved far from what was drawn.
    look(seen) {
        this.seen = seen;
        this.keepNames();
        if (
            Math.abs(seen.left - this.drawn.left) > (BESIDE_MOVES - 4) * this.zoom ||
            seen.width > this.drawn.width
        )
            this.draw();
    }

    // The moves in sight, and some beside them.
    draw() {
        const {left, width} = (this.drawn = this.seen);
        const first = Math.floor((left - LEFT) / this.zoom) - BESIDE_MOVES;
        const last = Math.ceil((left + width) / this.zoom) + BESIDE_MOVES;
        new Diagram(this.session, this.zoom, first, last).drawInto(this.picture, (at) =>
            this.session.goto(at),
        );
        this.keepNames();
    }

    keepNames() {
        const names = this.scroller.querySelector('.lane-names'),
            place = `translate(${this.seen.left} 0)`;
        if (names.getAttribute('transform') !== place) names.setAttribute('transform', place);
    }

    // The picture stands alone: the styles that it needs go with it, as they are in this theme.
    alone() {
        const svg = new Diagram(this.session, this.zoom).svg(null);
        const styles = getComputedStyle(document.documentElement);
        const used = ['--ink', '--soft', '--line', '--paper', '--bad', '--panel'];
        const colours = used.map((name) => `${name}:${styles.getPropertyValue(name)}`).join(';');
        const root = `svg{${colours};background:var(--paper)}`;
        const rules = [...document.styleSheets[0].cssRules]
            .map((rule) => rule.cssText)
            .filter((text) => text.startsWith('.diagram'));
        svg.prepend(draw('style', {}, [root, ...rules].join('\n')));
        svg.setAttribute('xmlns', SVG_NAMESPACE);
        return new XMLSerializer().serializeToString(svg);
    }

    save() {
        const link = make('a', {
            href: URL.createObjectURL(new Blob([this.alone()], {type: 'image/svg+xml'})),
            download: `${this.session.info.protocol}-${this.session.steps.length}.svg`,
        });
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 1000);
        speak('The picture was saved.');
    }
}
