// SPDX-License-Identifier: MIT
// Light and dark: as the system has it, until one is chosen.

class Theme {
    // `changed` is told of each theme, the first one too.
    constructor(changed) {
        this.changed = changed;
        let kept = null;
        try {
            kept = localStorage.getItem('afteryou-theme');
        } catch {
            // A browser that keeps nothing.
        }
        this.button = button('', () => this.set(this.now() === 'dark' ? 'light' : 'dark', true), {
            class: 'quiet',
            id: 'theme',
        });
        this.set(['light', 'dark'].includes(kept) ? kept : this.now(), false);
    }

    now() {
        return (
            document.documentElement.dataset.theme ||
            (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')
        );
    }

    set(theme, keep) {
        document.documentElement.dataset.theme = theme;
        this.button.textContent = theme === 'dark' ? '☀ Light' : '☾ Dark';
        this.changed?.(theme);
        try {
            if (keep) localStorage.setItem('afteryou-theme', theme);
        } catch {
            // It holds until the page is closed.
        }
    }
}
