// SPDX-License-Identifier: MIT
// The complete search, in a worker: progress while it runs, then a verdict for each property.

class Searcher {
    constructor(wasm) {
        this.wasm = wasm;
        this.worker = null;
        this.source = URL.createObjectURL(
            new Blob([document.getElementById('worker').textContent], {type: 'text/javascript'}),
        );
    }

    // Resolves with what the worker answers to the job; null if it was stopped.
    run(job, progress) {
        this.stop();
        return new Promise((resolve) => {
            const worker = (this.worker = new Worker(this.source));
            this.stopped = () => resolve(null);
            worker.onmessage = ({data}) => {
                if (data.ready) worker.postMessage(job);
                else if (data.progress) progress?.(data.progress);
                else {
                    this.stopped = null;
                    this.stop();
                    resolve(data.verdict || data.hint);
                }
            };
            worker.onerror = (event) => {
                this.stopped = null;
                this.stop();
                resolve({error: event.message || 'The worker failed.'});
            };
            worker.postMessage({wasm: this.wasm});
        });
    }

    stop() {
        this.worker?.terminate();
        this.worker = null;
        this.stopped?.();
        this.stopped = null;
    }
}

// A link is judged by the same analyses, of other things.
const LINK_PROPERTIES = {
    exclusion: ['delivery', 'each end takes the other’s messages in order, each once'],
    progress: ['progress', 'whatever was said can still be taken, and its sender know it'],
    lockout: ['lockout', 'whatever was said is taken in the end, and its sender knows it'],
    reached: ['reached', 'all that may happen to a link was seen'],
};

const ANSWERS = {holds: '✓ holds', broken: '✗ BROKEN', unknown: '? not decided'};

class CheckPage {
    constructor(app) {
        this.app = app;
        this.chooser = new Chooser(app.session, (words) => this.choose(words));
        this.start = button('Check every interleaving', () => this.begin(), {
            class: 'primary',
            id: 'start-check',
        });
        this.stopper = button('Stop', () => this.app.searcher.stop(), {
            id: 'stop-check',
            disabled: true,
        });
        this.progress = make('p', {class: 'progress', role: 'status', 'aria-live': 'off'});
        this.meter = make('progress', {'aria-label': 'The search', hidden: true});
        this.result = make('div', {id: 'verdict', 'aria-live': 'polite'});
        this.element = make(
            'div',
            {class: 'page check-page'},
            make('h1', {}, 'Check it'),
            make(
                'p',
                {class: 'lead'},
                'The checker tries every order in which the processes can make their accesses, ' +
                'with death after any step. It is the same program as ',
                make('code', {}, 'afteryou check'),
                ', and nothing leaves this page.',
            ),
            this.chooser.element,
            make('div', {class: 'row controls'}, this.start, this.stopper),
            this.meter,
            this.progress,
            this.result,
        );
    }

    choose(words) {
        const wrong = this.app.session.open(words);
        if (!wrong) replace(this.result);
        return wrong;
    }

    show() {
        this.chooser.show();
        if (this.words !== this.app.session.words && !this.app.searcher.worker)
            replace(this.result);
    }

    async begin() {
        const words = (this.words = this.app.session.words),
            began = performance.now();
        this.start.disabled = true;
        this.stopper.disabled = this.meter.hidden = false;
        replace(this.result);
        const tell = ({states, expanded, depth}) => {
            const seconds = (performance.now() - began) / 1000;
            const rate = Math.round(states / seconds / 1000).toLocaleString('en');
            const left = (states - expanded).toLocaleString('en');
            this.progress.textContent =
                `${plural(states, 'state')}, ${rate} thousand a second, ` +
                `${left} to go, depth ${depth}`;
        };
        this.progress.textContent = 'The search begins …';
        const done = await this.app.searcher.run({check: words}, tell);
        this.start.disabled = false;
        this.stopper.disabled = this.meter.hidden = true;
        if (!done) this.progress.textContent = 'Stopped.';
        else if (done.error) this.progress.textContent = done.error;
        else this.report(words, done.answer);
    }

    report(words, verdict) {
        this.progress.textContent =
            `${plural(verdict.states, 'state')}, ${plural(verdict.moves, 'move')}, ` +
            `depth ${verdict.depth}, ${verdict.seconds.toFixed(2)} s: ${verdict.end}.`;
        const meanings = this.app.catalogue.properties;
        const link = this.app.catalogue.protocols[words.split(' ')[0]]?.kind === 'link';
        const named = (name) => (link && LINK_PROPERTIES[name]) || [name, meanings[name]];
        const rows = Object.entries(verdict.properties).map(([name, finding]) =>
            make(
                'tr',
                {class: finding.answer, 'data-property': name},
                make('th', {scope: 'row'}, named(name)[0]),
                make('td', {class: 'meaning'}, named(name)[1]),
                make(
                    'td',
                    {class: 'answer'},
                    ANSWERS[finding.answer],
                    finding.broken && finding.broken !== name ? ` (${finding.broken})` : '',
                    finding.detail ? `: ${finding.detail}` : '',
                    finding.promised ? '' : ' (not promised)',
                ),
                make(
                    'td',
                    {},
                    finding.run
                        ? button(
                              `Open the counterexample: ${plural(finding.run.length, 'move')}`,
                              () => this.open(words, finding),
                              {class: 'primary counterexample'},
                          )
                        : '',
                ),
            ),
        );
        replace(
            this.result,
            make(
                'table',
                {class: 'verdict'},
                make('caption', {class: 'unseen'}, `Verdict on ${words}`),
                make(
                    'thead',
                    {},
                    make(
                        'tr',
                        {},
                        ['property', 'meaning', 'verdict', 'how'].map((name) =>
                            make('th', {scope: 'col'}, name),
                        ),
                    ),
                ),
                make('tbody', {}, rows),
            ),
            verdict.overtaken !== undefined
                ? make(
                      'p',
                      {},
                      `Each is overtaken at most ${plural(verdict.overtaken, 'time')} ` +
                          'by each other.',
                  )
                : null,
        );
        speak(
            Object.values(verdict.properties).some((finding) => finding.answer === 'broken')
                ? 'Something is broken.'
                : 'The search has ended.',
        );
    }

    open(words, finding) {
        this.app.guide.end();
        const wrong = this.app.session.load(words, finding.run, finding.run.length, finding.loop);
        this.app.go('step');
        tell(wrong || '');
    }
}
