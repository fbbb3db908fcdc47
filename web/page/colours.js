// SPDX-License-Identifier: MIT
// Process colours by name; the palette is Okabe and Ito's, which the colour-blind can tell apart.
const COLOURS = [
    '#0072b2',
    '#e69f00',
    '#009e73',
    '#cc79a7',
    '#56b4e9',
    '#d55e00',
    '#b3a100',
    '#7f7f7f',
];
