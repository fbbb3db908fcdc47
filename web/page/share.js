// SPDX-License-Identifier: MIT
// The whole situation in the URL's fragment: view, protocol and options, moves, and which is looked
// at.

function fragmentOf(app) {
    const {session} = app,
        parts = new URLSearchParams();
    parts.set('view', app.view);
    if (app.view === 'play') parts.set('level', app.level.words);
    if (['step', 'check', 'play'].includes(app.view)) {
        parts.set('check', session.words);
        if (session.steps.length) parts.set('moves', session.moves().join(''));
        if (session.at !== session.steps.length) parts.set('at', session.at);
        if (session.loop !== null) parts.set('loop', session.loop);
    }
    return `#${parts}`;
}

// Shows what the fragment describes. What is wrong with it is told, and the page goes on.
function followFragment(app, fragment) {
    const parts = new URLSearchParams(fragment.replace(/^#/, ''));
    const view = parts.get('view');
    if (!view || !app.pages[view]) {
        app.go('home');
        return fragment.length > 1 && fragment !== '#main-content'
            ? tell('This link is no situation of the playground, so here is its first page.')
            : null;
    }
    const moves = readMoves(parts.get('moves') || '');
    const level =
        view === 'play' ? app.levels.find((each) => each.words === parts.get('level')) : null;
    if (view === 'play' && !level) {
        app.go('levels');
        return tell('This link names a level that is not here.');
    }
    if (level) app.play(level);
    let wrong = moves
        ? null
        : 'The moves in this link are not moves, so the run begins at its beginning.';
    if (parts.get('check')) {
        const words = level ? level.words : parts.get('check');
        const number = (name) =>
            /^\d{1,5}$/.test(parts.get(name) || '') ? Number(parts.get(name)) : null;
        const failed = app.session.load(words, moves || [], number('at'), number('loop'));
        wrong = failed ? `This link cannot be followed: ${failed}` : wrong;
    }
    if (!level) app.go(view);
    return wrong ? tell(wrong) : null;
}

class Sharing {
    constructor(app) {
        this.app = app;
        this.written = null;
        addEventListener('hashchange', () => {
            if (location.hash !== this.written && location.hash !== '#main-content')
                followFragment(app, location.hash);
        });
    }

    // Not at every move of a random walk: browsers refuse too many.
    note() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.write(), 200);
    }

    write() {
        this.written = fragmentOf(this.app);
        if (location.hash !== this.written) location.replace(this.written);
        this.written = location.hash;
    }

    async copy() {
        this.write();
        try {
            await navigator.clipboard.writeText(location.href);
            tell('The link is copied: it holds the protocol, its options and every move.');
        } catch {
            tell(`Copy this link: ${location.href}`);
        }
    }
}
