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
        this.texts = new Map(); // file → {lines, element, marked}: what holds it, and its marks
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
        const {lines, marked} = this.texts.get(file);
        const shown = [...marks].sort(([one], [other]) => one - other);
        marked.replaceChildren(
            ...shown.map(([line, each]) => this.line(line, lines[line - 1] ?? '', each)),
        );
        beforePaint('source', () => this.scroll(marked, shown));
    }

    // Each text is laid out once, as a whole; a marked line lies above it.
    turnTo(file) {
        this.file = file;
        this.title.textContent = this.data.sources[file] ? `src/${file}` : 'The text';
        if (!this.texts.has(file)) this.texts.set(file, this.make(file));
        // The others stay laid out, out of sight: a step from one text to another is a step, too.
        for (const [name, {element}] of this.texts) element.classList.toggle('away', name !== file);
    }

    make(file) {
        const lines = (this.data.sources[file] || '').split('\n'),
            numbers = lines.map((_, at) => at + 1).join('\n'),
            marked = make('div', {});
        const element = make(
            'div',
            {class: 'file'},
            marked,
            make('pre', {class: 'numbers', 'aria-hidden': 'true'}, numbers),
            make('pre', {}, lines.join('\n')),
        );
        this.code.append(element);
        return {lines, element, marked};
    }

    line(number, text, marks) {
        const on = marks.find((mark) => !mark.soft) || marks[0],
            done = on.soft && marks.some((mark) => mark.soft && mark.first);
        return make(
            'div',
            {
                class: `line marked${on.soft ? ' soft' : ''}`,
                style: `--line:${number - 1};--mark:${COLOURS[on.process]}`,
            },
            make('span', {class: 'number', 'aria-hidden': 'true'}, String(number)),
            make(
                'span',
                {class: 'who'},
                done ? make('i', {}, '✓') : null,
                marks
                    .filter((mark) => mark.first && !mark.soft)
                    .map((mark) =>
                        make(
                            'b',
                            {style: `--mark:${COLOURS[mark.process]}`},
                            shortNameOf(this.session, mark.process),
                        ),
                    ),
            ),
            make('span', {class: 'text'}, text || ' '),
        );
    }

    // The line of who moved last, else the first marked one, comes into sight.
    scroll(marked, shown) {
        const last = this.session.at ? this.session.steps[this.session.at - 1].process : 0;
        const stand = ([, each]) => each.some((mark) => !mark.soft),
            its = (line) => stand(line) && line[1].some((mark) => mark.process === last);
        const found = shown.findIndex(its),
            at = found < 0 ? shown.findIndex(stand) : found;
        const top = at < 0 ? 0 : marked.children[at].offsetTop - this.code.clientHeight / 3;
        return () => (this.code.scrollTop = top);
    }
}
