// SPDX-License-Identifier: MIT
// The run on the page: its words, the moves made, and which of them is looked at. The engine keeps
// the states.

class Session {
    constructor(engine) {
        this.engine = engine;
        this.listeners = [];
        this.words = '';
        this.info = null;
        this.steps = []; // what the engine said of each move
        this.at = 0; // how many of them have been made at the place that is looked at
        this.loop = null; // where a run that goes round for ever comes back to
    }

    changed() {
        this.now = null;
        for (const listener of this.listeners) listener();
    }

    // null, or what is wrong; then the old run stays.
    open(words) {
        const tried = this.engine.call('open', words);
        if (tried.error) {
            this.restore();
            return tried.error;
        }
        Object.assign(this, {words, info: tried.answer, steps: [], at: 0, loop: null, shown: null});
        this.begin = this.engine
            .call('state', '', 0)
            .answer.processes.map((process) => process.status);
        this.changed();
        return null;
    }

    // The engine has one run at a time: after another was in it, this one is made again.
    restore() {
        if (!this.words) return;
        this.engine.call('open', this.words);
        this.steps.forEach((step, index) => this.engine.call('make', step.move, index));
        this.now = null;
    }

    // Opens, makes all these moves, and looks at the at-th.
    load(words, moves, at, loop) {
        const wrong = this.open(words);
        if (wrong) return wrong;
        for (const [index, move] of moves.entries()) {
            const made = this.engine.call('make', move, index);
            if (made.error) {
                this.at = this.steps.length;
                this.changed();
                return `Move ${index + 1}, ${move}, cannot be made here; the run stops before it.`;
            }
            this.steps.push(made.answer);
        }
        this.at = Math.min(at ?? moves.length, moves.length);
        this.loop = loop ?? null;
        this.changed();
        return null;
    }

    state() {
        if (!this.now) this.now = this.engine.call('state', '', this.at).answer;
        return this.now;
    }

    // A new move here: what came after is forgotten, unless it was the same move.
    make(move) {
        if (this.steps[this.at]?.move === move) return this.goto(this.at + 1);
        const made = this.engine.call('make', move, this.at);
        if (made.error) {
            tell(made.error);
            return;
        }
        this.steps.length = this.at;
        this.loop = null;
        this.steps.push(made.answer);
        this.at++;
        speak(`P${processOf(move)} ${made.answer.text}`);
        this.changed();
    }

    goto(index) {
        this.at = Math.max(0, Math.min(this.steps.length, index));
        this.changed();
    }

    restart() {
        this.load(this.words, [], 0);
    }

    moves() {
        return this.steps.map((step) => step.move);
    }

    statuses(index) {
        return index ? this.steps[index - 1].statuses : this.begin;
    }

    // The safety property that is broken where one looks, or null; and the first move that broke
    // one.
    broken() {
        return this.at ? this.steps[this.at - 1].broken || null : null;
    }

    firstBroken() {
        return this.steps.findIndex((step) => step.broken);
    }

    shows(property) {
        return this.engine.call('shows', property, this.at).answer;
    }
}

// "exclusion" and its relatives, as people say them.
const BROKEN_WORDS = {
    exclusion: 'Two are inside at once',
    condition: 'One is inside though its condition is false',
    turn: 'One is inside before its turn',
    fence: 'A fence did not grow',
    units: 'More units are held than there are',
    window: 'The clock left its window',
    bound: 'A number outgrew its bound',
    race: 'One is inside, and need not see what was done there before',
    P3b: 'What was read as offered reads as not offered, and nobody took it (P3b)',
    P4: 'What others saw offered to a process, it does not see (P4)',
};

function brokenWords(broken) {
    if (BROKEN_WORDS[broken]) return BROKEN_WORDS[broken];
    if (/^lemma/.test(broken))
        return `${broken[0].toUpperCase()}${broken.slice(1)} is broken`;
    const text = broken.replace(/^\w+: /, '');
    return text[0].toUpperCase() + text.slice(1);
}

const NAMES = {registers: 'P', messages: 'Node ', link: 'End '};
const nameOf = (session, process) =>
    NAMES[session.info.kind] + session.state().processes[process].place;
// "N1": where there is little room.
const shortNameOf = (session, process) =>
    nameOf(session, process).replace(/^([A-Z])\w* /, '$1');
