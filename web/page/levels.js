// SPDX-License-Identifier: MIT
// The levels of “Break it”: in order, with what this browser has solved.

const GOALS = {
    exclusion: 'Get two inside at once, or make an entry that the promise forbids.',
    progress: 'Bring it to a standstill: somebody waits, and nobody can ever enter again.',
    lockout: 'Find a round that can go on for ever while one waits, though everybody keeps moving.',
    reliability: 'Let one wait for ever while others die and return, round after round.',
    order: 'Let one enter before another that was in the queue before it began.',
    overtaking: 'Find a round in which one enters while the same other waits: again and again.',
    quiet: 'Let one spin for ever while nobody else moves.',
    able: 'Let one wait for ever though its condition is true and nobody new comes.',
    precedence: 'Let one enter before another that should precede it and already waits.',
    'giving-up': 'Find a round on which one never looks at its deadline.',
    recovery:
        'Let errors strike, and then find a round without any further error on which two are ' +
        'inside at once.',
    reached:
        'Let one wait though nothing stands in its way: nobody is there with whom it could not ' +
        'be inside.',
};

// The aims of the levels that break something at one moment, by what they break.
const BREAKS = {
    exclusion: 'Get two inside at once (or one more than there are slots).',
    fence: 'Make an entry whose fence is not above that of an earlier one.',
    fairness: 'Let one in before another whose request happened before its own.',
    deadlock: 'Let somebody wait while nothing is on its way any more.',
    window: 'Let two copies of the clock differ by more than one.',
    bound: 'Make a process read a number that nobody has drawn.',
    turn: 'Let one in before its turn: another in the queue has a smaller number.',
    told: 'Let one enter after a death inside untold, or told of what was told before.',
    race: 'Let one in that need not see all that was done inside before it.',
    delivery: 'Have a message taken twice, left out, or counted as taken before it was.',
};

// The aim of a level, in words.
function goalOf(level) {
    if (/^lemma/.test(level.breaks))
        return `Break ${level.breaks} of the paper, which it states of every moment.`;
    return level.goal || BREAKS[level.breaks] || GOALS[level.property];
}

class Progress {
    constructor() {
        try {
            this.solved = JSON.parse(localStorage.getItem('afteryou-levels')) || {};
        } catch {
            this.solved = {};
        }
        if (typeof this.solved !== 'object') this.solved = {};
    }

    best(level) {
        const best = this.solved[level.words];
        return Number.isInteger(best) ? best : null;
    }

    note(level, moves) {
        const best = this.best(level);
        if (best === null || moves < best) this.solved[level.words] = moves;
        try {
            localStorage.setItem('afteryou-levels', JSON.stringify(this.solved));
        } catch {
            // A browser that keeps nothing: the page goes on without.
        }
    }
}

// Each level with its solution, from easy to hard; the one that cannot be broken is last.
function orderedLevels(data) {
    const levels = data.levels.map((level) => ({...level, ...data.solutions[level.words]}));
    return levels
        .sort((a, b) => hardness(a) - hardness(b))
        .map((level, at) => ({...level, number: at + 1}));
}

// The longer the shortest way, the harder; and two inside are easier to think of than a fence or a
// round.
function hardness(level) {
    const extra = {
        exclusion: 0,
        deadlock: 2,
        progress: 3,
        turn: 4,
        fairness: 6,
        fence: 8,
        window: 8,
        bound: 8,
        race: 6,
        cut: 6,
        told: 6,
        P3b: 6,
        P4: 6,
    };
    const kind = level.breaks || level.property;
    return level.unbreakable
        ? Infinity
        : level.moves.length + (extra[kind] ?? (/^lemma/.test(kind) ? 14 : 6));
}

function gradeOf(level) {
    if (level.unbreakable) return 'The last one';
    const hard = hardness(level);
    return hard <= 12
        ? 'First steps'
        : hard <= 26
          ? 'A good evening'
          : hard <= 70
            ? 'Hard'
            : 'Only for the stubborn';
}

class LevelsPage {
    constructor(app) {
        this.app = app;
        this.grid = make('div', {});
        this.element = make(
            'div',
            {class: 'page levels-page'},
            make('h1', {}, 'Break it'),
            make(
                'p',
                {class: 'lead'},
                'You are the scheduler and the assassin. Each of these protocols is broken: a ' +
                'line left out, or as a paper printed it. You decide who moves next, and who ' +
                'dies. Break its promise.',
            ),
            this.grid,
        );
    }

    show() {
        const groups = new Map();
        for (const level of this.app.levels)
            groups.set(gradeOf(level), [...(groups.get(gradeOf(level)) || []), level]);
        replace(
            this.grid,
            [...groups].map(([grade, levels]) =>
                make(
                    'section',
                    {'aria-label': grade},
                    make('h2', {}, grade),
                    make(
                        'ul',
                        {class: 'levels'},
                        levels.map((level) => this.card(level)),
                    ),
                ),
            ),
        );
    }

    card(level) {
        const best = this.app.progress.best(level);
        return make(
            'li',
            {},
            make(
                'button',
                {
                    type: 'button',
                    class: `level${best !== null ? ' solved' : ''}`,
                    'data-level': level.words,
                    'data-key': `level-${level.number}`,
                    onclick: () => this.app.play(level),
                },
                make('span', {class: 'level-number'}, String(level.number)),
                make('span', {class: 'level-title'}, level.title),
                make(
                    'span',
                    {class: 'level-facts'},
                    level.unbreakable
                        ? 'as it ships'
                        : [level.breaks || level.property, plural(level.moves.length, 'move')].join(
                              ', ',
                          ),
                ),
                best !== null ? make('span', {class: 'level-best'}, `✓ broken in ${best}`) : null,
            ),
        );
    }
}
