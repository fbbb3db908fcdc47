// SPDX-License-Identifier: MIT
// The papers: whose protocol it is, the lines of its figure, and what was found wrong in print.

// The lines of a protocol's text between two of its lines, both included.
function figureLines(source, from, to) {
    const lines = source.split('\n');
    const first = lines.findIndex((line) => line.includes(from));
    const last = lines.findIndex((line, at) => at >= first && line.includes(to));
    return first < 0 || last < 0 ? '' : lines.slice(first, last + 1).join('\n');
}

class AboutPage {
    constructor(app) {
        this.app = app;
        this.element = make(
            'div',
            {class: 'page about-page'},
            make('h1', {}, 'The papers'),
            make(
                'p',
                {class: 'lead'},
                'Every protocol here is the text that ships, label by label as its paper has it.' +
                ' The checker read them all; here is what it found.',
            ),
            app.data.papers.map((paper) => this.paper(paper)),
        );
    }

    show() {}

    // Every claim of the paper, with its commands: those that a page can make are opened here.
    rows(paper, open) {
        const shown = paper.rows.filter((row) => row.shows.length).length;
        const command = ({command, found, quick}) => {
            const searches = command.startsWith('check ') && quick;
            const words = searches ? command.slice('check '.length) : '';
            const verdict = found === 'holds' ? 'holds' : `refuted: ${found}`;
            return make(
                'li',
                {},
                make('code', {}, `afteryou ${command}`),
                `: ${verdict} `,
                words ? button(`Step ${words}`, () => open(words), {}) : '',
            );
        };
        return make(
            'details',
            {class: 'claims'},
            make(
                'summary',
                {},
                `Its claims, one by one: ${shown} of ${paper.rows.length} have a command`,
            ),
            paper.rows.map((row) =>
                make(
                    'section',
                    {class: 'claim'},
                    make('h4', {}, `${row.id} · ${row.where}`),
                    make('p', {}, row.claim),
                    make('ul', {}, row.shows.map(command)),
                    row.why ? make('p', {class: 'cite'}, row.why) : '',
                ),
            ),
        );
    }

    paper(paper) {
        const {app} = this;
        const source = app.data.sources[paper.file] || '';
        const open = (words) => {
            app.guide.end();
            tell(app.session.open(words) || '');
            app.go('step');
        };
        return make(
            'article',
            {class: 'panel paper', id: `paper-${paper.id}`},
            make('h2', {}, paper.title),
            make('p', {class: 'cite'}, paper.cite),
            paper.text.map((text) => make('p', {}, text)),
            make('h3', {}, 'What was found wrong in print'),
            make(
                'ul',
                {},
                paper.found.map((text) => make('li', {}, text)),
            ),
            make(
                'details',
                {},
                make('summary', {}, `Its lines: src/${paper.file}`),
                make(
                    'pre',
                    {tabindex: '0', 'aria-label': `Lines of ${paper.title}`},
                    figureLines(source, paper.from, paper.to),
                ),
            ),
            paper.rows.length ? this.rows(paper, open) : '',
            make(
                'div',
                {class: 'row'},
                paper.open.map((words) => button(`Step ${words}`, () => open(words), {})),
            ),
        );
    }
}
