// SPDX-License-Identifier: MIT
// Moves as text: who (A to H), what (s b g d y f), and which outcome: "AbAsBy2". And the words for
// them.

const MOVES_MOST = 20000;

const KINDS = {
    s: 'step',
    b: 'begin',
    g: 'give up',
    d: 'die',
    y: 'surroundings',
    f: 'fault',
};

// An array, or null if it is no list of moves.
function readMoves(text) {
    const moves = text.match(/[A-H][sbgdyf]\d*/g) || [];
    return moves.join('') === text && moves.length <= MOVES_MOST ? moves : null;
}

const processOf = (move) => move.charCodeAt(0) - 65;
const kindOf = (move) => move[1];

// The word of the first of these that the text begins with.
const wordOf = (text, words, otherwise) =>
    Object.entries(words).find(([begins]) => text.startsWith(begins))?.[1] || otherwise;

// What is done at the end of a link: its words begin with what it does.
const LINK_WORDS = {
    says: 'Say',
    doubts: 'Doubt',
    dials: 'Dial',
    accepts: 'Accept',
    closes: 'Close',
    sends: 'Send',
    receives: 'Receive',
};

// What goes wrong, and is done on purpose only: of a link all else that may fail is how it works.
const isRare = (about, kind) =>
    kind === 'link' ? about.text.startsWith('closes') : 'dgf'.includes(kindOf(about.move));

// What the button says; the text of the move is beside it.
function moveWord(move, about, kind) {
    const messages = kind === 'messages';
    if (kind === 'link') return wordOf(about.text, LINK_WORDS, 'Go on');
    switch (kindOf(move)) {
        case 'b':
            return messages
                ? 'Request'
                : /^begins ([^;]+);/.exec(about.text)?.[1]
                  ? `Begin ${/^begins ([^;]+);/.exec(about.text)[1]}`
                  : 'Begin';
        case 'g':
            return 'Give up';
        case 'd':
            return wordOf(
                about.text,
                {
                    'is cut off': 'Cut off',
                    'is buried': 'Bury',
                    'goes,': 'Go away',
                    'has its user die': 'Kill its user',
                },
                'Kill',
            );
        case 'f':
            return messages ? 'Join' : wordOf(about.text, {'an error': 'Error'}, 'Stop for ever');
        case 'y':
            return messages
                ? 'Deliver'
                : wordOf(
                      about.text,
                      {falls: 'Fall quiet', puts: 'Repair', sees: 'Catch up'},
                      'Drain',
                  );
        default:
            return /^leaves/.test(about.text) ? 'Leave' : about.stays ? 'Look again' : 'Step';
    }
}

const LINK_STATUS_WORDS = {idle: 'all is taken', queued: 'not all is taken'};
const STATUS_WORDS = {
    idle: 'outside',
    doorway: 'in the doorway',
    active: 'visible',
    queued: 'waiting',
    inside: 'INSIDE',
    leaving: 'leaving',
    malfunction: 'malfunctions',
    halted: 'stopped for ever',
};
const WAITING = new Set(['doorway', 'active', 'queued']);
