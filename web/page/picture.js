// SPDX-License-Identifier: MIT
// The elements of a space-time diagram. Those that stay as they are stay in place: then a step
// costs a few new elements, and not the layout of all.

class Picture {
    constructor() {
        // Later ones lie above earlier ones.
        this.parts = {};
        for (const name of ['lanes', 'below', 'arrows', 'marks', 'above'])
            this.parts[name] = draw('g', {});
        this.kept = {arrows: new Map(), marks: new Map()}; // by move: {step, key, element}
        const patterns = COLOURS.map((colour, at) =>
            draw(
                'pattern',
                {
                    id: `waits-${at}`,
                    width: 8,
                    height: 8,
                    patternUnits: 'userSpaceOnUse',
                    patternTransform: 'rotate(45)',
                },
                draw('rect', {width: 8, height: 8, fill: colour, opacity: 0.16}),
                draw('rect', {width: 3, height: 8, fill: colour, opacity: 0.4}),
            ),
        );
        this.svg = draw(
            'svg',
            {class: 'diagram', role: 'img'},
            draw('defs', {}, patterns),
            Object.values(this.parts),
        );
    }

    size(wide, high, label) {
        fill(this.svg, {viewBox: `0 0 ${wide} ${high}`, width: wide, height: high}, []);
        this.svg.setAttribute('aria-label', label);
    }

    // All of a part anew.
    put(name, ...children) {
        this.parts[name].replaceChildren(...children.flat(Infinity).filter(Boolean));
    }

    // A part with an element, or none, for each move: `wanted` is a list of {at, step, key, make}.
    // Who has the same step and key as before stays.
    keep(name, wanted) {
        const old = this.kept[name],
            now = (this.kept[name] = new Map());
        for (const {at, step, key, make: made} of wanted) {
            const before = old.get(at);
            if (before?.step === step && before.key === key) {
                now.set(at, before);
                old.delete(at);
                continue;
            }
            const element = made();
            if (element) this.parts[name].append(element);
            now.set(at, {step, key, element});
        }
        for (const {element} of old.values()) element?.remove();
    }
}
