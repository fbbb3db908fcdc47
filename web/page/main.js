// SPDX-License-Identifier: MIT
// The page: its views, and what goes from one to another.

const VIEWS = [
    ['home', 'Start'],
    ['step', 'Step'],
    ['check', 'Check'],
    ['levels', 'Break it'],
    ['about', 'Papers'],
];

function head(app) {
    app.tabs = VIEWS.map(([view, label]) =>
        button(label, () => app.go(view), {class: 'tab', 'data-view': view}),
    );
    const keys = listenToKeys(app);
    replace(
        document.getElementById('head'),
        button('after you', () => app.go('home'), {class: 'brand'}),
        make('nav', {'aria-label': 'Views'}, app.tabs),
        make(
            'div',
            {class: 'head-tools'},
            button('Tour', () => app.guide.begin('tour'), {class: 'quiet'}),
            button('Keys', keys, {class: 'quiet'}),
            button('Share', () => app.sharing.copy(), {class: 'quiet', id: 'share'}),
            app.theme.button,
        ),
    );
}

// The page of that view comes up; whoever uses a screen reader or the keyboard begins at its top.
function go(view) {
    const app = APP,
        main = document.getElementById('main-content');
    if (view !== 'play') app.level = null;
    if (view !== 'step') app.guide.end();
    if (view !== 'step' && view !== 'play') app.stepper.transport.stop();
    tell('');
    app.view = view;
    const page = app.pages[view];
    if (view === 'step' && app.stepper.element.parentNode !== page.element)
        page.element.append(app.stepper.element);
    main.replaceChildren(page.element);
    for (const tab of app.tabs)
        tab.toggleAttribute(
            'aria-current',
            tab.dataset.view === (view === 'play' ? 'levels' : view),
        );
    page.show();
    main.focus({preventScroll: true});
    scrollTo(0, 0);
    app.sharing.note();
}

function play(level) {
    APP.guide.end();
    const wrong = APP.pages.play.open(level);
    APP.level = level;
    go('play');
    if (wrong) tell(wrong);
}

async function start() {
    const text = (id) => document.getElementById(id).textContent;
    const [wasm, data] = await Promise.all([unpack(text('wasm')), unpack(text('data'))]);
    const app = APP;
    app.data = JSON.parse(new TextDecoder().decode(data));
    app.engine = await Engine.start(wasm);
    app.catalogue = app.engine.call('catalogue').answer;
    app.options = app.engine.call('options').answer.commands[0].options;
    app.levels = orderedLevels(app.data);
    app.progress = new Progress();
    app.session = new Session(app.engine);
    app.searcher = new Searcher(wasm);
    app.go = go;
    app.play = play;
    app.session.load('pair', [], 0);
    app.stepper = new Stepper(app.session, app.data);
    app.guide = new Guide(app);
    app.theme = new Theme();
    app.sharing = new Sharing(app);
    app.pages = {
        home: new HomePage(app),
        step: new StepPage(app),
        check: new CheckPage(app),
        levels: new LevelsPage(app),
        play: new PlayPage(app),
        about: new AboutPage(app),
    };
    app.session.listeners.push(() => {
        app.pages[app.view]?.show();
        app.sharing.note();
    });
    head(app);
    followFragment(app, location.hash);
    document.documentElement.dataset.ready = 'true';
}

start().catch((error) => {
    const old = typeof DecompressionStream === 'undefined' || typeof WebAssembly === 'undefined';
    document.getElementById('main-content').textContent = old
        ? 'This browser is too old: it lacks WebAssembly or DecompressionStream.'
        : `The playground could not start: ${error.message}`;
});
