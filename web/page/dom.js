// SPDX-License-Identifier: MIT
// Elements, made in one expression: make('button', {onclick: …}, 'text', child).

const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
        if (value === null || value === undefined || value === false) continue;
        if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
        else element.setAttribute(name, value === true ? '' : value);
    }
    // Text is text: whatever it holds, it never becomes markup.
    element.append(
        ...children
            .flat(Infinity)
            .filter((child) => child !== null && child !== undefined && child !== false),
    );
    return element;
}

const make = (tag, attributes, ...children) =>
    fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes, ...children) =>
    fill(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);

// Does what changes the element's children. Who had the focus keeps it, found again by its
// data-key.
function keepingFocus(element, change) {
    const had = element.contains(document.activeElement) ? document.activeElement : null,
        key = had?.dataset?.key;
    change();
    if (key && document.activeElement !== had)
        element.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({preventScroll: true});
}

// Puts the new children in the place of the old.
function replace(element, ...children) {
    keepingFocus(element, () =>
        element.replaceChildren(...children.flat(Infinity).filter(Boolean)),
    );
}

// Likewise, where most of them are those that are there: these are not touched.
function replaceSome(element, children) {
    const old = [...element.children];
    if (old.length !== children.length) return replace(element, children);
    return keepingFocus(element, () =>
        children.forEach((child, at) => {
            if (child !== old[at]) old[at].replaceWith(child);
        }),
    );
}

// What must measure the page is done once a frame, after all that changes it: measuring in between
// would lay it out again each time. So an action that measures returns what is to be changed by it,
// a function, which is called when all have measured. Of several actions of one name the last
// counts.
const waiting = new Map();
function beforePaint(name, action) {
    if (!waiting.size)
        requestAnimationFrame(() => {
            const actions = [...waiting.values()];
            waiting.clear();
            actions.map((each) => each()).forEach((change) => change?.());
        });
    waiting.set(name, action);
}

const button = (text, action, attributes) =>
    make('button', {type: 'button', onclick: action, ...attributes}, text);

// What a screen reader is to say.
function speak(text) {
    document.getElementById('spoken').textContent = text;
}

// A line above the page: something the user asked for could not be had.
function tell(text) {
    const banner = document.getElementById('banner');
    replace(
        banner,
        text
            ? make(
                  'p',
                  {class: 'notice'},
                  text,
                  button('Close', () => tell(''), {class: 'quiet'}),
              )
            : null,
    );
}

const plural = (count, word) => `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;

// What all views share; main.js fills it in.
const APP = {};
