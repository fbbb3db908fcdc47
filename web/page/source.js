// SPDX-License-Identifier: MIT
// The protocol's own text, with a mark at the line where each process stands.

const openings = (line) => line.split('(').length - line.split(')').length;

// A statement may have several lines, and the compiler names its last: it begins where its
// parentheses do.
function statementOf(lines, line) {
    let first = line,
        depth = openings(lines[line - 1] || '');
    while (depth < 0 && first > 1 && first > line - 8) depth += openings(lines[--first - 1]);
    let last = line;
    while (depth > 0 && last < lines.length && last < line + 8) depth += openings(lines[last++]);
    return [first, last];
}

// What handled the last event of a message protocol: the blocks of its text.
function handledBlocks(step, blocks) {
    if (!step) return [];
    const text = step.text;
    const kind = /^receives (\w+)/.exec(text)?.[1];
    const event = text.startsWith('requests')
        ? 'EVENT_REQUEST'
        : text.startsWith('leaves')
          ? 'EVENT_RELEASE'
          : /^learns.*died/.test(text)
            ? 'EVENT_DIED'
            : /^learns.*joined/.test(text)
              ? 'EVENT_JOINED'
              : `MESSAGE_${kind}`;
    return blocks[event] || (kind ? blocks.EVENT_MESSAGE : []) || [];
}

// Likewise of a link: the functions that the move called.
const LINK_FUNCTIONS = {
    says: 'link_say',
    doubts: 'link_doubt',
    dials: 'link_up',
    accepts: 'link_up',
    closes: 'link_down',
    sends: 'link_next',
    receives: 'link_receive',
};

function linkBlocks(step, blocks) {
    const called = [wordOf(step.text, LINK_FUNCTIONS, '')];
    if (step.text.includes('; sends')) called.push('link_next');
    return called.flatMap((name) => blocks[name] || []);
}

class SourceView {
    constructor(session, data) {
        this.session = session;
        this.data = data;
        this.texts = new Map(); // file → {lines, element}: its lines, and what holds them
        this.lines = [];
        this.marked = [];
        this.title = make('h2', {id: 'source-title'}, 'The text');
        this.code = make('div', {
            class: 'code',
            tabindex: '0',
            role: 'region',
            'aria-labelledby': 'source-title',
        });
        this.element = make('section', {class: 'panel source'}, this.title, this.code);
    }

    // {file, marks: line → [{process, soft}]}
    marks() {
        const state = this.session.state(),
            marks = new Map();
        const last = this.session.at ? this.session.steps[this.session.at - 1] : null;
        const add = (first, end, process, soft) => {
            for (let line = first; line <= end; line++)
                marks.set(line, [
                    ...(marks.get(line) || []),
                    {process, soft, first: line === first},
                ]);
        };
        const {kind, protocol} = this.session.info;
        if (kind !== 'registers') {
            const file = this.data.files[APP.catalogue.protocols[protocol].base];
            const handled = kind === 'link' ? linkBlocks : handledBlocks;
            if (last)
                handled(last, this.data.blocks[file] || {}).forEach(([first, end], at) =>
                    add(first, end, last.process, at > 0),
                );
            return {file, marks};
        }
        const focus = last ? last.process : 0;
        const file = state.processes[focus].next?.file || last?.access?.file;
        const lines = (this.data.sources[file] || '').split('\n');
        if (last?.access?.file === file && last.access.line)
            add(...statementOf(lines, last.access.line), last.process, true);
        state.processes.forEach((process, index) => {
            if (process.next?.file === file && process.next.line)
                add(...statementOf(lines, process.next.line), index, false);
        });
        return {file, marks};
    }

    show() {
        const {file, marks} = this.marks();
        if (file !== this.file) this.turnTo(file);
        for (const line of new Set([...this.marked, ...marks.keys()]))
            if (this.lines[line - 1]) this.mark(this.lines[line - 1], marks.get(line));
        this.marked = [...marks.keys()];
        beforePaint('source', () => this.scroll(marks));
    }

    // Each text is made into elements once.
    turnTo(file) {
        for (const line of this.marked)
            if (this.lines[line - 1]) this.mark(this.lines[line - 1], null);
        this.file = file;
        this.marked = [];
        this.title.textContent = this.data.sources[file] ? `src/${file}` : 'The text';
        if (!this.texts.has(file)) this.texts.set(file, this.make(file));
        this.lines = this.texts.get(file).lines;
        // The others stay laid out, out of sight: a step from one text to another is a step, too.
        for (const [name, {element}] of this.texts) element.classList.toggle('away', name !== file);
    }

    make(file) {
        const lines = (this.data.sources[file] || '')
            .split('\n')
            .map((line, at) =>
                make(
                    'div',
                    {class: 'line'},
                    make('span', {class: 'number', 'aria-hidden': 'true'}, String(at + 1)),
                    make('span', {class: 'who'}),
                    make('span', {class: 'text'}, line || ' '),
                ),
            );
        const element = make('div', {class: 'file'}, lines);
        this.code.append(element);
        return {lines, element};
    }

    mark(element, marks) {
        const on = marks?.find((mark) => !mark.soft) || marks?.[0];
        element.className = on ? `line marked${on.soft ? ' soft' : ''}` : 'line';
        element.style.setProperty('--mark', on ? COLOURS[on.process] : 'transparent');
        const who = element.children[1],
            done = marks?.find((mark) => mark.soft && mark.first);
        who.replaceChildren(
            ...(done && on.soft ? [make('i', {}, '✓')] : []),
            ...(marks || [])
                .filter((mark) => mark.first && !mark.soft)
                .map((mark) =>
                    make(
                        'b',
                        {style: `--mark:${COLOURS[mark.process]}`},
                        shortNameOf(this.session, mark.process),
                    ),
                ),
        );
    }

    // The line of who moved last, else the first marked one, comes into sight.
    scroll(marks) {
        const last = this.session.at ? this.session.steps[this.session.at - 1].process : 0;
        const lines = [...marks.entries()].filter(([, each]) => each.some((mark) => !mark.soft));
        const wanted =
            lines.find(([, each]) => each.some((mark) => mark.process === last)) || lines[0];
        const element = wanted ? this.lines[wanted[0] - 1] : this.lines?.[0];
        if (element) this.code.scrollTop = element.offsetTop - this.code.clientHeight / 3;
    }
}
