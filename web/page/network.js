// SPDX-License-Identifier: MIT
// Messages on their way, as arrows from node to node; a click delivers one.


class NetworkView {
    constructor(session) {
        this.session = session;
        this.element = make('section', {
            class: 'panel network',
            'aria-label': 'Messages on their way',
        });
    }

    // One arrow for each receiver of each message; `move` is what delivers it, if it may arrive
    // next.
    arrows() {
        const state = this.session.state(),
            arrows = [];
        state.flying.forEach((packet, number) =>
            packet.to.forEach((to) => {
                const move =
                    this.session.info.kind === 'link'
                        ? packet.move
                        : `${String.fromCharCode(65 + to)}y${number || ''}`;
                const may = state.processes[to].moves.some((about) => about.move === move);
                arrows.push({...packet, to, move: may ? move : null});
            }),
        );
        return arrows;
    }

    show() {
        this.element.hidden = this.session.info.kind === 'registers';
        if (this.element.hidden) return;
        const arrows = this.arrows(),
            nodes = this.session.state().processes;
        // letters stay as large as elsewhere
        this.narrow = matchMedia('(max-width: 640px)').matches;
        const width = this.narrow ? 340 : 720,
            height = 74 + 34 * Math.max(1, arrows.length);
        const x = (node) => (width * (node + 0.5)) / nodes.length;
        replace(
            this.element,
            make(
                'h2',
                {},
                arrows.length ? 'On their way: click to deliver' : 'Nothing is on its way',
            ),
            draw(
                'svg',
                {
                    viewBox: `0 0 ${width} ${height}`,
                    class: 'arrows',
                    role: 'group',
                    'aria-label': 'Messages',
                },
                nodes.map((node, at) => [
                    draw('line', {x1: x(at), y1: 44, x2: x(at), y2: height - 6, class: 'lane'}),
                    draw('circle', {
                        cx: x(at),
                        cy: 26,
                        r: 16,
                        fill: COLOURS[at],
                        class: node.dead ? 'gone' : '',
                    }),
                    draw(
                        'text',
                        {x: x(at), y: 31, class: 'node-name'},
                        node.dead ? '✕' : String(at),
                    ),
                ]),
                arrows.map((arrow, at) =>
                    this.arrow(arrow, x(arrow.from), x(arrow.to), 70 + 34 * at),
                ),
            ),
            this.connections(),
        );
    }

    // Of a link: where each connection is open.
    connections() {
        const words = ({made, accepted, open}) =>
            !made
                ? 'is not made'
                : open.length === 2
                  ? 'is open at both ends'
                  : `is open at ${open.length ? `end ${open[0]} only` : 'no end'}` +
                    (accepted ? '' : ', and not accepted yet');
        return (this.session.state().connections || []).map((connection, at) =>
            make('p', {class: 'connection'}, `Connection ${at} ${words(connection)}.`),
        );
    }

    label(arrow) {
        if (this.session.info.kind === 'link')
            return [
                ...(arrow.number ? [this.narrow ? arrow.number : `message ${arrow.number}`] : []),
                `${arrow.taken} taken`,
                this.narrow ? arrow.name.replace('connection', 'c.') : arrow.name,
            ].join(', ');
        const notice = arrow.name === 'died' || arrow.name === 'joined';
        const what = notice ? ` ${arrow.from}` : arrow.number ? `(${arrow.number})` : '';
        return `${arrow.name}${what}`;
    }

    arrow(arrow, from, to, y) {
        const self = from === to;
        const label = this.label(arrow);
        const middle = (from + to) / 2,
            width = 12 + 8 * label.length;
        const path = self
            ? `M${from} ${y - 12} c50 0 50 24 4 24`
            : `M${from} ${y} L${to + (from < to ? -9 : 9)} ${y}`;
        const before = to + (from < to ? -10 : 10);
        const tip = self
            ? `${from + 4},${y + 12} ${from + 13},${y + 7} ${from + 13},${y + 17}`
            : `${to},${y} ${before},${y - 5} ${before},${y + 5}`;
        const deliver = () => this.session.make(arrow.move);
        const about = `${label} from ${arrow.from} to ${arrow.to}`;
        return draw(
            'g',
            {
                class: arrow.move ? 'arrow' : 'arrow held',
                role: arrow.move ? 'button' : 'img',
                tabindex: arrow.move ? '0' : null,
                'aria-label': arrow.move ? `Deliver ${about}` : `${about}: others come first`,
                'data-key': `arrow-${arrow.move}`,
                'data-deliver': arrow.move,
                onclick: arrow.move ? deliver : null,
                onkeydown: arrow.move
                    ? (event) => {
                          if (event.key === 'Enter' || event.key === ' ') {
                              event.preventDefault();
                              event.stopPropagation();
                              deliver();
                          }
                      }
                    : null,
            },
            draw('path', {d: path}),
            draw('polygon', {points: tip}),
            draw('rect', {
                x: middle - width / 2 + (self ? 62 : 0),
                y: y - 12,
                width,
                height: 24,
                rx: 12,
            }),
            draw('text', {x: middle + (self ? 62 : 0), y: y + 5}, label),
        );
    }
}
