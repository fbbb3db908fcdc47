// SPDX-License-Identifier: MIT
// The keyboard alone: time, the processes by number, and a list of the keys.

const KEYS = [
    ['←  →', 'one move back, forward'],
    ['Home  End', 'to the beginning, to the end'],
    ['1 … 8', 'the first move of that process'],
    ['Shift 1 … 8', 'kill that process'],
    ['r', 'a move by chance'],
    ['w', 'random walk on, off'],
    ['n', 'the next scene of a tour'],
    ['?', 'this list'],
];

function listenToKeys(app) {
    const dialog = make(
        'dialog',
        {class: 'keys', 'aria-label': 'Keys'},
        make('h2', {}, 'Keys'),
        make(
            'dl',
            {},
            KEYS.map(([key, text]) => [make('dt', {}, key), make('dd', {}, text)]),
        ),
        make('form', {method: 'dialog'}, make('button', {class: 'primary'}, 'Close')),
    );
    document.body.append(dialog);
    const {session, stepper} = app;
    // By the key's place, since a digit with Shift is another letter on every keyboard.
    const first = (process, kill) =>
        session
            .state()
            .processes[process]?.moves.find((about) => (kindOf(about.move) === 'd') === kill);
    const actions = {
        ArrowLeft: () => session.goto(session.at - 1),
        ArrowRight: () => session.goto(session.at + 1),
        Home: () => session.goto(0),
        End: () => session.goto(session.steps.length),
        r: () => stepper.transport.random(),
        w: () => stepper.transport.toggle(),
        n: () => app.guide.tour && app.guide.scene(app.guide.at + 1),
    };
    addEventListener('keydown', (event) => {
        if (
            event.ctrlKey ||
            event.altKey ||
            event.metaKey ||
            /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) ||
            dialog.open
        )
            return;
        if (event.key === '?') return dialog.showModal();
        if (
            !stepper.element.isConnected ||
            (event.target.closest?.('.scroller, .code') && event.key.startsWith('Arrow'))
        )
            return;
        const digit = /^Digit([1-8])$/.exec(event.code);
        const about = digit ? first(Number(digit[1]) - 1, event.shiftKey) : null;
        if (about) session.make(about.move);
        else if (actions[event.key]) actions[event.key]();
        else return;
        event.preventDefault();
    });
    return () => dialog.showModal();
}
