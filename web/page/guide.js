// SPDX-License-Identifier: MIT
// Guided tours: a text for each situation, which the page shows beside it.

class Guide {
    constructor(app) {
        this.app = app;
        this.tour = null;
        this.element = make('section', {class: 'guide', 'aria-label': 'Guided tour', hidden: true});
    }

    begin(name, at) {
        this.tour = this.app.data.guides[name];
        this.at = at || 0;
        this.app.go('step');
        this.scene(this.at);
    }

    end() {
        this.tour = null;
        this.element.hidden = true;
        if (this.app.view === 'step') this.app.pages.step.show();
    }

    scene(at) {
        this.at = Math.max(0, Math.min(this.tour.scenes.length - 1, at));
        const scene = this.tour.scenes[this.at];
        const words = scene.words || this.tour.words,
            moves = readMoves(scene.moves ?? this.tour.moves);
        const {session} = this.app;
        if (session.words === words && session.moves().join('') === moves.join(''))
            session.goto(scene.at ?? moves.length);
        else tell(session.load(words, moves, scene.at ?? moves.length) || '');
        this.show();
        this.app.stepper.diagram.fit();
        speak(scene.text);
    }

    show() {
        this.element.hidden = !this.tour;
        if (!this.tour) return;
        const {scenes, title} = this.tour,
            scene = scenes[this.at],
            last = this.at === scenes.length - 1;
        const marked = (text) =>
            text.split('**').map((part, at) => (at % 2 ? make('strong', {}, part) : part));
        replace(
            this.element,
            make('p', {class: 'guide-title'}, `${title} · ${this.at + 1} of ${scenes.length}`),
            make('p', {class: 'guide-text'}, marked(scene.text)),
            make(
                'div',
                {class: 'row'},
                button('Back', () => this.scene(this.at - 1), {
                    disabled: this.at === 0,
                    'data-key': 'guide-back',
                }),
                last
                    ? null
                    : button('Next', () => this.scene(this.at + 1), {
                          class: 'primary',
                          id: 'guide-next',
                          'data-key': 'guide-next',
                      }),
                last && this.tour.then
                    ? button(this.tour.then.label, () => this.follow(), {
                          class: 'primary',
                          'data-key': 'guide-next',
                      })
                    : null,
                button('End the tour', () => this.end(), {class: 'quiet', 'data-key': 'guide-end'}),
            ),
        );
    }

    follow() {
        const {then} = this.tour;
        this.end();
        if (then.guide) return this.begin(then.guide);
        return this.app.play(this.app.levels.find((level) => level.words.startsWith(then.level)));
    }
}
