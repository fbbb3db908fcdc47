// SPDX-License-Identifier: MIT
// One level: the aim, hints, and what is said when the promise is broken.

// Of these the engine finds the shortest way from wherever one is.
const SEARCHED = ['exclusion', 'reached'];

class PlayPage {
    constructor(app) {
        this.app = app;
        this.top = make('section', {class: 'panel goal', 'aria-label': 'The aim'});
        this.hint = make('div', {class: 'hint', role: 'status'});
        this.end = make('div', {class: 'end', role: 'alert', id: 'level-end'});
        this.element = make('div', {class: 'page play-page'}, this.top, this.hint, this.end);
    }

    open(level) {
        this.level = level;
        this.hints = 0;
        this.won = null;
        this.helped = false;
        replace(this.hint);
        replace(this.end);
        return this.app.session.open(level.words);
    }

    show() {
        const {level} = this,
            {session} = this.app;
        const used = session.at;
        replace(
            this.top,
            make(
                'div',
                {class: 'bar'},
                make('h1', {}, `${level.number}. ${level.title}`),
                button('All levels', () => this.app.go('levels'), {class: 'quiet'}),
            ),
            make(
                'p',
                {},
                make('strong', {}, 'Your aim: '),
                goalOf(level),
            ),
            level.rule ? make('p', {class: 'rule'}, level.rule) : null,
            make(
                'p',
                {class: 'facts'},
                `${plural(used, 'move')} made. `,
                level.unbreakable
                    ? 'Nobody can break this one: the checker has tried every interleaving.'
                    : `The ${level.shortest ? 'shortest' : 'checker’s'} way has ` +
                          `${level.moves.length}.`,
            ),
            make(
                'div',
                {class: 'row'},
                button('Hint', () => this.giveHint(), {id: 'hint', disabled: level.unbreakable}),
                level.unbreakable
                    ? button('Give up: check it', () => this.check(), {id: 'solution'})
                    : button('Show the solution', () => this.solve(), {id: 'solution'}),
            ),
        );
        if (
            !this.top.contains(this.app.stepper.element) &&
            this.app.stepper.element.parentNode !== this.element
        )
            this.element.append(this.app.stepper.element);
        this.app.stepper.show();
        this.judge();
    }

    judge() {
        const {session} = this.app,
            {level} = this;
        if (level.unbreakable || this.won !== null || !session.at) return;
        const broken = level.property === 'exclusion' ? session.broken() : null;
        const shown = broken
            ? {shows: true, why: brokenWords(broken)}
            : level.property === 'exclusion'
              ? {shows: false}
              : session.shows(level.property);
        if (shown?.shows) this.win(shown.why);
    }

    win(why) {
        const {level} = this,
            used = this.app.session.at,
            over = used - level.moves.length;
        this.won = used;
        if (!this.helped) this.app.progress.note(level, used);
        const next = this.app.levels[level.number];
        const how = this.helped
            ? 'That was the checker’s way.'
            : over <= 0
              ? `You broke it in ${plural(used, 'move')}: ` +
                (level.shortest ? 'nobody can do it in fewer.' : 'the checker’s way has no fewer.')
              : `You broke it in ${plural(used, 'move')}: ${over} more than ` +
                `the ${level.shortest ? 'shortest' : 'checker’s'} way.`;
        replace(this.hint);
        replace(
            this.end,
            make('h2', {}, `Broken: ${why}`),
            make('p', {}, how),
            make('p', {class: 'history'}, level.history),
            make(
                'div',
                {class: 'row'},
                next
                    ? button('Next level', () => this.app.play(next), {
                          class: 'primary',
                          id: 'next-level',
                      })
                    : null,
                button('Again', () => this.app.play(level), {}),
            ),
        );
        this.end.scrollIntoView({block: 'nearest'});
    }

    // First what to think about; then the next move of the shortest way from here.
    async giveHint() {
        const {level} = this,
            said = level.hints || [];
        if (this.hints < said.length)
            return replace(this.hint, make('p', {}, `Hint: ${said[this.hints++]}`));
        replace(this.hint, make('p', {}, 'The checker looks for the shortest way from here …'));
        const {session} = this.app,
            moves = session.moves().slice(0, session.at);
        const {property, words} = level;
        const searched = SEARCHED.includes(property)
            ? (await this.app.searcher.run({hint: words, moves, property}))?.answer
            : {too_far: true};
        if (this.app.level !== level) return null;
        const found = searched?.too_far ? this.fromSolution(moves) : searched;
        if (!found?.left)
            return replace(
                this.hint,
                make(
                    'p',
                    {},
                    found?.common !== undefined
                        ? 'The checker’s way goes with yours for ' +
                              `${plural(found.common, 'move')}: go back to there, and ask again.`
                        : 'From here the checker found no way: go back a few moves, or begin anew.',
                ),
            );
        const about = session
            .state()
            .processes.flatMap((process) => process.moves)
            .find((each) => each.move === found.move);
        return replace(
            this.hint,
            make(
                'p',
                {},
                `From here ${plural(found.left, 'move')} will do. ` +
                    `Next: ${nameOf(session, processOf(found.move))} ${about?.text || found.move}.`,
            ),
        );
    }

    // Where a round must be closed, or the search from here takes too long, the way that is kept is
    // all that is known.
    fromSolution(moves) {
        const way = this.level.moves,
            apart = moves.findIndex((move, at) => way[at] !== move),
            common = apart < 0 ? moves.length : apart;
        return common === moves.length && common < way.length
            ? {left: way.length - common, move: way[common]}
            : {common: Math.min(common, way.length - 1)};
    }

    solve() {
        this.helped = true;
        this.won = null;
        this.app.session.load(this.level.words, this.level.moves, 0, this.level.loop);
        replace(
            this.hint,
            make(
                'p',
                {},
                'The checker’s way is loaded: press ▶, or the right arrow key, and watch.',
            ),
        );
    }

    check() {
        this.app.go('check');
        document.getElementById('start-check')?.click();
    }
}
