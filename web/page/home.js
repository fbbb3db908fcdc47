// SPDX-License-Identifier: MIT
// The first page: what this is, and the shortest way into it.

class HomePage {
    constructor(app) {
        this.app = app;
        this.picture = make('div', {class: 'hero-picture', 'aria-hidden': 'true'});
        const card = (title, text, label, action, id) =>
            make(
                'section',
                {class: 'card'},
                make('h2', {}, title),
                make('p', {}, text),
                button(label, action, {class: 'primary', id}),
            );
        this.element = make(
            'div',
            {class: 'page home-page'},
            make(
                'section',
                {class: 'hero'},
                make(
                    'div',
                    {class: 'hero-text'},
                    make('h1', {}, 'In 1977, a paper printed a lock that lets two in.'),
                    make(
                        'p',
                        {class: 'lead'},
                        'Processes that share nothing but a few words must take turns, though ' +
                        'any of them may die at any step. Figure 4 of “The Mutual Exclusion ' +
                        'Problem for Unreliable Processes” was to do that. Twenty moves show ' +
                        'that it does not.',
                    ),
                    make(
                        'div',
                        {class: 'row'},
                        button('Show me how it breaks', () => app.guide.begin('figure4'), {
                            class: 'primary big',
                            id: 'show-me',
                        }),
                        button(
                            'Let me break it',
                            () =>
                                app.play(
                                    app.levels.find((level) =>
                                        level.words.startsWith('races-printed'),
                                    ),
                                ),
                            {class: 'big'},
                        ),
                    ),
                ),
                this.picture,
            ),
            make(
                'div',
                {class: 'cards'},
                card(
                    'New to this?',
                    'A tour of three minutes: what a doorway is, why one looks twice, and what ' +
                    'death does.',
                    'Take the tour',
                    () => app.guide.begin('tour'),
                    'take-tour',
                ),
                card(
                    'Step',
                    'Any protocol, move by move, with its own text beside it. Kill whom you like.',
                    'Step a protocol',
                    () => app.go('step'),
                    'go-step',
                ),
                card(
                    'Check',
                    'Every interleaving, in this browser. A counterexample opens move by move.',
                    'Check one',
                    () => app.go('check'),
                    'go-check',
                ),
                card(
                    'Break it',
                    `${app.levels.length} levels: published errors, and lines left out. ` +
                        'The last one cannot be broken.',
                    'Play',
                    () => app.go('levels'),
                    'go-levels',
                ),
            ),
            make(
                'p',
                {class: 'small'},
                'The protocols and the checker are those that ship with afteryou, compiled to ' +
                'WebAssembly. The page is one file: it works offline, and nothing is sent ' +
                'anywhere.',
            ),
        );
    }

    // The counterexample itself, drawn from a run of its own.
    show() {
        if (this.picture.firstChild) return;
        const shown = new Session(this.app.engine),
            {words, moves} = this.app.data.guides.figure4;
        shown.load(words, readMoves(moves));
        this.picture.append(new Diagram(shown, 30).svg(null));
        this.app.session.restore();
    }
}
