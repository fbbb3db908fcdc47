// SPDX-License-Identifier: MIT
// The server's events. While the page is hidden, or paused, there is no stream, and the server does
// not look.

const AGAIN_MS = 3000;

class Stream {
    // `take(text, isChange)`: all of it, or what has changed. `tell(state, words)`: live, paused,
    // lost.
    constructor(take, tell) {
        Object.assign(this, {take, tell, source: null, paused: false, again: 0});
        document.addEventListener('visibilitychange', () => this.settle());
        this.settle();
    }

    pause(paused) {
        this.paused = paused;
        this.settle();
    }

    settle() {
        clearTimeout(this.again);
        const wanted = !this.paused && !document.hidden;
        if (wanted && !this.source) this.open();
        if (!wanted && this.source) {
            this.source.close();
            this.source = null;
        }
        if (!wanted) this.tell('paused', 'paused');
    }

    open() {
        const source = (this.source = new EventSource(
            `events?changes=1${location.search.replace('?', '&')}`,
        ));
        const hear = (event) => {
            this.tell('live', 'live');
            this.take(event.data, event.type === 'change');
        };
        source.onmessage = hear;
        source.addEventListener('change', hear);
        source.addEventListener('trouble', (event) => {
            this.tell('lost', JSON.parse(event.data).error);
        });
        source.onerror = () => this.fail(source);
    }

    // The browser tries again by itself, but not after it was refused: then the reason is asked.
    async fail(source) {
        if (source !== this.source) return;
        if (source.readyState !== EventSource.CLOSED) {
            this.tell('lost', 'the server does not answer; trying again …');
            return;
        }
        this.source = null;
        let words = 'the server does not answer; trying again …';
        try {
            const answer = await fetch(`events${location.search}`);
            if (!answer.ok) words = (await answer.text()).trim();
            else answer.body.cancel();
        } catch {
            // It is still gone.
        }
        this.tell('lost', words);
        this.again = setTimeout(() => this.settle(), AGAIN_MS);
    }
}
