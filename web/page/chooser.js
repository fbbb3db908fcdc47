// SPDX-License-Identifier: MIT
// Choosing a protocol, the number of processes, and what may go wrong. The outcome is the words of
// `afteryou check`, and the options are those of its own table; whether a protocol has one, the
// engine says by taking it.

// What is for the command line, or has its own place on the page.
const NOT_HERE = new Set([
    '--places',
    '--memory',
    '--states',
    '--seconds',
    '--svg',
    '--json',
    '--list',
    '--random',
    '--pct',
    '--steps',
    '--seed',
    '--property',
    '--no-reduction',
    '--threads',
    '--compact',
    '--symmetry',
]);
const SAMPLES = ['1', '2', '1:0']; // of a value that is no word of a list

const splitWords = (words) => words.trim().split(/\s+/).filter(Boolean);
const nameOfOption = (option) => option.words.find((word) => word.startsWith('--'));

// Some protocols are nothing without an option: the first of these words that the engine takes.
function leastWords(app, protocol) {
    const words = ['', ' --units 1', ' --rename 1'].map((more) => protocol + more);
    return words.find((each) => app.engine.call('takes', each).taken) || protocol;
}

// The options that go with a protocol, each with the values of its list that do.
function optionsFor(app, protocol) {
    app.optionsOf ??= new Map();
    if (!app.optionsOf.has(protocol)) {
        const first = leastWords(app, protocol);
        const takes = (words) => app.engine.call('takes', `${first} ${words}`).taken;
        app.optionsOf.set(
            protocol,
            app.options
                .filter((option) => !NOT_HERE.has(nameOfOption(option)))
                .map((option) => {
                    const name = nameOfOption(option),
                        list = option.list.filter((value) => takes(`${name} ${value}`));
                    const taken = option.list.length
                        ? list.length
                        : option.argument
                          ? SAMPLES.some((value) => takes(`${name} ${value}`))
                          : takes(name);
                    return taken ? {...option, name, list} : null;
                })
                .filter(Boolean),
        );
    }
    return app.optionsOf.get(protocol);
}

// "bakery -n 3 --tso" as a map from an option's name to its value ('' if it takes none); what else
// there is, in order.
function readWords(app, words) {
    const given = new Map(),
        rest = [],
        all = splitWords(words);
    for (let at = 0; at < all.length; at++) {
        const option = app.options.find((each) => each.words.includes(all[at]));
        if (option) given.set(nameOfOption(option), option.argument ? all[++at] || '' : '');
        else rest.push(all[at]);
    }
    return {given, rest};
}

class Chooser {
    // `chosen(words)` opens them, and returns what is wrong or null.
    constructor(session, chosen) {
        this.session = session;
        this.chosen = chosen;
        this.protocol = make(
            'select',
            {id: 'protocol', onchange: () => this.pick()},
            this.groups(),
        );
        this.count = make('select', {id: 'count', onchange: () => this.apply()});
        this.options = make('div', {class: 'options'});
        this.line = make('input', {
            id: 'words',
            type: 'text',
            spellcheck: 'false',
            autocomplete: 'off',
        });
        this.wrong = make('p', {class: 'wrong', role: 'alert'});
        this.about = make('p', {class: 'summary'});
        this.details = make(
            'details',
            {class: 'settings'},
            make('summary', {}, 'What may go wrong, and other settings'),
            this.options,
            make(
                'form',
                {
                    onsubmit: (event) => {
                        event.preventDefault();
                        this.open(this.line.value);
                    },
                },
                make('label', {for: 'words'}, 'In words, as for the command line: afteryou check '),
                this.line,
                make('button', {}, 'Open'),
            ),
        );
        this.element = make(
            'section',
            {class: 'panel chooser', 'aria-label': 'Protocol'},
            make(
                'div',
                {class: 'row'},
                make('label', {for: 'protocol'}, 'Protocol '),
                this.protocol,
                make('label', {for: 'count'}, 'processes '),
                this.count,
                this.about,
            ),
            this.details,
            this.wrong,
        );
    }

    groups() {
        const groups = {
            'Shared registers': [],
            Messages: [],
            'What carries messages': [],
            'Broken: registers': [],
            'Broken: messages': [],
            'Broken: what carries messages': [],
        };
        const kinds = Object.keys(NAMES);
        for (const [name, about] of Object.entries(APP.catalogue.protocols)) {
            const broken = about.refutes || about.left_out ? kinds.length : 0;
            Object.values(groups)[kinds.indexOf(about.kind) + broken].push(name);
        }
        return Object.entries(groups).map(([label, names]) =>
            make(
                'optgroup',
                {label},
                names.map((name) => make('option', {value: name}, name)),
            ),
        );
    }

    // The words that a broken protocol needs are those of its level.
    pick() {
        const name = this.protocol.value;
        const level = APP.data.levels.find((each) => splitWords(each.words)[0] === name);
        this.open(level ? level.words : leastWords(APP, name));
    }

    apply() {
        const {given} = readWords(APP, this.session.words),
            words = [this.protocol.value, '-n', this.count.value];
        const shown = new Set(['--places']);
        for (const control of this.options.querySelectorAll('[data-option]')) {
            shown.add(control.dataset.option);
            const value = control.type === 'checkbox' ? '' : control.value.trim();
            if (control.type === 'checkbox' ? control.checked : value)
                words.push(control.dataset.option, value);
        }
        for (const [name, value] of given) if (!shown.has(name)) words.push(name, value);
        this.open(words.filter(Boolean).join(' '));
    }

    open(words) {
        this.wrong.textContent = this.chosen(words) || '';
        if (this.wrong.textContent) this.show();
    }

    show() {
        const {info, words} = this.session;
        const about = APP.catalogue.protocols[info.protocol];
        this.protocol.value = info.protocol;
        const {given} = readWords(APP, words),
            n = Number(given.get('--places') || info.processes);
        replace(
            this.count,
            Array.from({length: about.most - about.least + 1}, (_, at) =>
                make(
                    'option',
                    {value: about.least + at, selected: about.least + at === n},
                    String(about.least + at),
                ),
            ),
        );
        this.about.textContent =
            about.summary ||
            (about.left_out
                ? `${about.base} without ${about.left_out}`
                : about.kind === 'messages'
                  ? 'a message protocol'
                  : 'two ends, connections that fail, and a ledger that does not');
        this.line.value = words;
        if (this.shownWords === words) return;
        this.shownWords = words;
        replace(
            this.options,
            optionsFor(APP, info.protocol).map((option) =>
                this.control(option, given.get(option.name)),
            ),
        );
    }

    control(option, value) {
        const common = {
            'data-option': option.name,
            'data-key': option.name,
            onchange: () => this.apply(),
        };
        const help = [` ${option.help} `, make('code', {}, option.name)];
        if (!option.argument)
            return make(
                'label',
                {},
                make('input', {type: 'checkbox', checked: value !== undefined, ...common}),
                help,
            );
        const choices =
            option.list.includes(value) || !value ? option.list : [value, ...option.list];
        return make(
            'label',
            {},
            option.list.length
                ? make(
                      'select',
                      common,
                      make('option', {value: ''}, '–'),
                      choices.map((each) =>
                          make('option', {value: each, selected: each === value}, each),
                      ),
                  )
                : make('input', {type: 'text', value: value || '', ...common}),
            help,
        );
    }
}
