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

// Puts the new children in the place of the old; who had the focus keeps it, found again by its
// data-key.
function replace(element, ...children) {
    const key = element.contains(document.activeElement)
        ? document.activeElement.dataset?.key
        : null;
    element.replaceChildren(...children.flat(Infinity).filter(Boolean));
    if (key) element.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({preventScroll: true});
}

// What must measure the page is done once a frame, after all that changes it: measuring in between
// would lay it out again each time. Of several actions of one name the last counts.
const waiting = new Map();
function beforePaint(name, action) {
    if (!waiting.size)
        requestAnimationFrame(() => {
            const actions = [...waiting.values()];
            waiting.clear();
            actions.forEach((each) => each());
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
