// SPDX-License-Identifier: MIT
// Back, forward, a random walk with a speed; and the list of all moves.

class Transport {
    constructor(session) {
        this.session = session;
        this.timer = null;
        this.place = make('output', {class: 'place', 'aria-label': 'Move'});
        this.first = button('❙◀', () => session.goto(0), {
            'aria-label': 'To the beginning',
            'data-key': 'first',
        });
        this.back = button('◀', () => session.goto(session.at - 1), {
            'aria-label': 'Back',
            'data-key': 'back',
            id: 'back',
        });
        this.next = button('▶', () => session.goto(session.at + 1), {
            'aria-label': 'Forward',
            'data-key': 'next',
            id: 'next',
        });
        this.last = button('▶❙', () => session.goto(session.steps.length), {
            'aria-label': 'To the end',
            'data-key': 'last',
        });
        this.walk = button('Random walk', () => this.toggle(), {
            class: 'walk',
            'aria-pressed': 'false',
        });
        this.speed = make('input', {
            type: 'range',
            min: 1,
            max: 30,
            value: 4,
            'aria-label': 'Moves a second',
        });
        this.deaths = make('input', {type: 'checkbox', checked: true});
        this.element = make(
            'div',
            {class: 'transport', role: 'group', 'aria-label': 'Time'},
            make(
                'span',
                {class: 'buttons'},
                this.first,
                this.back,
                this.place,
                this.next,
                this.last,
            ),
            make(
                'span',
                {class: 'walking'},
                this.walk,
                make('label', {}, 'speed ', this.speed),
                make('label', {}, this.deaths, ' with deaths'),
            ),
            button('Begin anew', () => session.restart(), {class: 'quiet'}),
        );
    }

    show() {
        const {at, steps} = this.session;
        this.place.textContent = `${at} of ${steps.length}`;
        this.first.disabled = this.back.disabled = at === 0;
        this.next.disabled = this.last.disabled = at === steps.length;
    }

    toggle() {
        if (this.timer) return this.stop();
        this.walk.setAttribute('aria-pressed', 'true');
        this.walk.textContent = 'Stop';
        const again = () => {
            if (!this.element.isConnected || !this.random()) return this.stop();
            this.timer = setTimeout(again, 1000 / this.speed.value);
        };
        this.timer = setTimeout(again, 0);
    }

    stop() {
        clearTimeout(this.timer);
        this.timer = null;
        this.walk.setAttribute('aria-pressed', 'false');
        this.walk.textContent = 'Random walk';
    }

    // One move by chance; deaths and the like one time in twelve. False where the walk must end.
    random() {
        const moves = this.session.state().processes.flatMap((process) => process.moves);
        const {kind} = this.session.info;
        const rare = moves.filter((about) => isRare(about, kind));
        const plain = moves.filter((about) => !isRare(about, kind));
        const rarely =
            this.deaths.checked && rare.length && (Math.random() < 1 / 12 || !plain.length);
        const from = rarely ? rare : plain;
        if (!from.length || this.session.broken()) return false;
        const before = this.session.at;
        this.session.make(from[Math.floor(Math.random() * from.length)].move);
        return this.session.at > before;
    }
}

// All moves, as a list. Only what has changed since it was last shown is touched.
class MoveList {
    constructor(session) {
        this.session = session;
        this.drawn = []; // {step, item}
        this.at = 0;
        this.list = make('ol', {class: 'move-list'});
        this.none = make('p', {class: 'nothing'}, 'Nothing yet: press a button of a process.');
        this.element = make(
            'section',
            {class: 'panel moves-made'},
            make('h2', {}, 'What was done'),
            this.none,
            this.list,
        );
    }

    show() {
        const {steps, at} = this.session,
            {drawn} = this;
        let same = 0;
        while (same < drawn.length && drawn[same].step === steps[same]) same++;
        for (const {item} of drawn.splice(same)) item.remove();
        for (const step of steps.slice(same)) {
            const item = this.item(step, drawn.length);
            drawn.push({step, item});
            this.list.append(item);
        }
        for (
            let index = Math.min(this.at, at, same) - 1;
            index < Math.max(this.at, at, steps.length);
            index++
        )
            this.mark(index);
        this.at = at;
        this.none.hidden = steps.length > 0;
        const here = drawn[at - 1]?.item;
        beforePaint('list', () => {
            const top = here ? here.offsetTop - this.list.clientHeight / 2 : 0;
            return () => (this.list.scrollTop = top);
        });
    }

    mark(index) {
        const item = this.drawn[index]?.item;
        if (!item) return;
        item.classList.toggle('later', index >= this.session.at);
        if (index + 1 === this.session.at) item.firstChild.setAttribute('aria-current', 'step');
        else item.firstChild.removeAttribute('aria-current');
    }

    item(step, index) {
        return make(
            'li',
            {class: step.broken ? 'broken' : null, style: `--own:${COLOURS[step.process]}`},
            make(
                'button',
                {
                    type: 'button',
                    onclick: () => this.session.goto(index + 1),
                    'data-key': `move-${index}`,
                },
                make('span', {class: 'dot', 'aria-hidden': 'true'}),
                `${nameOf(this.session, step.process)} ${step.text}`,
                step.broken ? make('strong', {}, ` ✗ ${brokenWords(step.broken)}`) : null,
            ),
        );
    }
}
