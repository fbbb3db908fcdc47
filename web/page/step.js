// SPDX-License-Identifier: MIT
// The stepper: columns, text, messages, diagram and list, all of one run.

class Stepper {
    constructor(session, data) {
        this.session = session;
        this.columns = new ColumnsView(session);
        this.source = new SourceView(session, data);
        this.network = new NetworkView(session);
        this.diagram = new DiagramView(session);
        this.transport = new Transport(session);
        this.list = new MoveList(session);
        this.alarm = make('div', {class: 'alarm', role: 'alert', id: 'alarm'});
        this.element = make(
            'div',
            {class: 'stepper'},
            make(
                'div',
                {class: 'main-part'},
                this.transport.element,
                this.alarm,
                this.network.element,
                this.columns.element,
                this.diagram.element,
            ),
            make('div', {class: 'side-part'}, this.source.element, this.list.element),
        );
    }

    show() {
        for (const view of [
            this.transport,
            this.columns,
            this.network,
            this.diagram,
            this.source,
            this.list,
        ])
            view.show();
        const broken = this.session.broken();
        replace(
            this.alarm,
            broken
                ? make(
                      'p',
                      {},
                      make('strong', {}, `✗ ${brokenWords(broken)}. `),
                      this.explain(broken),
                  )
                : null,
        );
    }

    explain(broken) {
        const inside = this.session
            .state()
            .processes.map((process, at) =>
                process.status === 'inside' ? nameOf(this.session, at) : null,
            )
            .filter(Boolean);
        return broken.startsWith('exclusion')
            ? `${inside.join(' and ')} ${inside.length > 1 ? 'are' : 'is'} inside. ` +
                  'Go back to see how it came to that.'
            : `The property “${broken.split(':')[0]}” is broken by this move.`;
    }
}

class StepPage {
    constructor(app) {
        this.app = app;
        this.chooser = new Chooser(app.session, (words) => app.session.open(words));
        this.element = make(
            'div',
            {class: 'page step-page'},
            make('h1', {class: 'unseen'}, 'Step a protocol'),
            app.guide.element,
            this.chooser.element,
            app.stepper.element,
        );
    }

    show() {
        this.app.guide.show();
        this.chooser.element.hidden = Boolean(this.app.guide.tour);
        this.chooser.show();
        this.app.stepper.show();
    }
}
