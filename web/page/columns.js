// SPDX-License-Identifier: MIT
// A column for each process: where it is, what it has public, what it can do next.

class ColumnsView {
    constructor(session) {
        this.session = session;
        this.element = make('div', {class: 'columns'});
        this.drawn = []; // of each process: what its column shows, as text
    }

    show() {
        const state = this.session.state();
        const before = this.session.at ? this.previous : null;
        const broken = this.session.broken();
        const inside = state.processes.filter((process) => process.status === 'inside').length;
        const clash = broken === 'exclusion' || (broken && inside > 1);
        const last = this.session.at ? this.session.steps[this.session.at - 1] : null;
        const shown = state.processes.map((process, index) =>
            JSON.stringify([
                process,
                before?.processes[index]?.registers,
                before?.processes[index]?.bits,
                last?.process === index && last.text,
                clash,
                this.session.info.kind,
                Boolean(APP.level),
            ]),
        );
        // A column that shows what it showed stays in place.
        const old = [...this.element.children],
            stays = (index) => shown[index] === this.drawn[index] && old[index];
        replaceSome(
            this.element,
            state.processes.map((process, index) =>
                stays(index) ? old[index] : this.column(process, index, before, clash),
            ),
        );
        this.drawn = shown;
        this.previous = state;
    }

    column(process, index, before, clash) {
        const status = process.dead
            ? 'dead'
            : process.asleep && process.status !== 'inside'
              ? 'asleep'
              : process.status;
        const word = process.dead
            ? 'dead'
            : process.asleep
              ? 'waiting, asleep'
              : (this.session.info.kind === 'link' ? LINK_STATUS_WORDS : STATUS_WORDS)[
                    process.status
                ];
        const name = nameOf(this.session, index);
        const moved = this.session.at && this.session.steps[this.session.at - 1].process === index;
        return make(
            'section',
            {
                class: [
                    'column',
                    status,
                    moved ? 'moved' : '',
                    clash && status === 'inside' ? 'clash' : '',
                ].join(' '),
                style: `--own:${COLOURS[index]}`,
                'aria-label': `${name}, ${word}`,
                'data-process': index,
            },
            make(
                'h2',
                {},
                make('span', {class: 'dot', 'aria-hidden': 'true'}),
                name,
                make('span', {class: 'status'}, word),
            ),
            process.request ? make('p', {class: 'request'}, process.request) : null,
            this.registers(process, index, before),
            this.lastLine(index),
            this.moves(process, index),
        );
    }

    registers(process, index, before) {
        const rows = [...process.registers, ...(process.bits || [])];
        const old = before?.processes[index];
        const oldRows = old ? [...old.registers, ...(old.bits || [])] : [];
        const value = (row, at) => {
            const changed = oldRows[at] && oldRows[at].value !== row.value;
            return make(
                'div',
                {class: `register${changed ? ' changed' : ''}`},
                make('dt', {}, row.name),
                make('dd', {}, row.value, row.flickers ? ' ~' : null),
            );
        };
        const buffered = (process.buffer || []).map((row) =>
            make(
                'div',
                {class: 'register buffered'},
                make('dt', {}, row.name),
                make('dd', {}, `${row.value} (in its buffer)`),
            ),
        );
        const extra = process.holds
            ? [
                  make(
                      'div',
                      {class: 'register'},
                      make('dt', {}, 'holds'),
                      make('dd', {}, `${process.holds} unit`),
                  ),
              ]
            : [];
        return make(
            'dl',
            {class: `registers${rows.length > 6 ? ' many' : ''}`},
            rows.map(value),
            buffered,
            extra,
        );
    }

    // What it did last, if it was the last to move.
    lastLine(index) {
        const step = this.session.at ? this.session.steps[this.session.at - 1] : null;
        const did = step && step.process === index;
        return make('p', {class: 'last'}, did ? `✓ ${step.text}` : ' ');
    }

    moves(process, index) {
        const {kind} = this.session.info;
        if (!process.moves.length) {
            const why = kind === 'link' ? 'It has nothing to do.' : process.asleep
                ? 'It sleeps until another wakes it.'
                : process.status === 'halted'
                  ? 'It never moves again.'
                  : process.left === 0
                    ? 'It has made all its requests.'
                    : process.dead
                      ? 'It is dead.'
                      : 'It waits for a message.';
            return make('p', {class: 'nothing'}, why);
        }
        const ordinary = process.moves.filter((about) => !isRare(about, kind));
        const rare = process.moves.filter((about) => isRare(about, kind));
        const words = rare.map((about) => moveWord(about.move, about, kind));
        // One word says which of them it is, unless there are several of one word.
        const alone = (at) => words.filter((word) => word === words[at]).length === 1;
        return make(
            'div',
            {class: 'moves'},
            ordinary.map((about) => this.moveButton(about, index)),
            make(
                'div',
                {class: 'rare'},
                rare.map((about, at) => this.moveButton(about, index, true, alone(at))),
            ),
        );
    }

    moveButton(about, index, rare, alone) {
        const word = moveWord(about.move, about, this.session.info.kind);
        const text = (
            this.session.info.kind === 'link' ? about.text.replace(/^\w+,? ?/, '') : about.text
        )
            .replace(/^(begins[^;]*|leaves|gives up|requests|an error:( stores)?);? ?/, '')
            .replace(/^(dies|begins|leaves|requests)$/, '');
        const kind = kindOf(about.move) === 'd' ? 'kill' : rare ? 'rarely' : 'go';
        return make(
            'button',
            {
                type: 'button',
                onclick: () => this.session.make(about.move),
                class: `move ${kind}${about.breaks && !APP.level ? ' breaks' : ''}`,
                'data-move': about.move,
                'data-key': about.move,
            },
            make('span', {class: 'unseen'}, `${nameOf(this.session, index)}: `),
            make(
                'span',
                {class: 'word'},
                kind === 'kill' ? make('span', {'aria-hidden': 'true'}, '☠ ') : null,
                word,
            ),
            ' ',
            alone ? null : make('span', {class: 'what'}, text),
        );
    }
}
