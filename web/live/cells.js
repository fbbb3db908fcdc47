// SPDX-License-Identifier: MIT
// Slots and units as cells: a full one is taken, and has the colour of who has it.

const CELLS_MOST = 1024;

// For each cell who is in it, or null. Slots have no numbers: they are filled from the left.
function cellsOf(rows) {
    const inside = rows.filter((row) => row.state === 'inside');
    const of = rows.reduce((most, row) => Math.max(most, row.of), 0),
        slots = rows.reduce((most, row) => Math.max(most, row.slots), 1);
    const count = Math.min(CELLS_MOST, of || slots);
    if (count < 2) return null;
    const cells = Array.from({length: count}, () => null);
    if (of)
        for (const row of inside)
            for (const unit of row.units) if (unit < count) cells[unit] = row;
    if (!of) inside.slice(0, count).forEach((row, at) => (cells[at] = row));
    return {cells, units: of > 0};
}

function drawCells(rows) {
    const found = cellsOf(rows);
    if (!found) return null;
    const taken = found.cells.filter(Boolean).length,
        what = found.units ? 'units' : 'slots';
    return make(
        'div',
        {
            class: `cells${found.cells.length > 64 ? ' many' : ''}`,
            role: 'img',
            'aria-label': `${taken} of ${found.cells.length} ${what} are taken`,
        },
        found.cells.map((row, at) =>
            make(
                'span',
                {
                    class: row ? `cell taken ${colourOf(row.key)}` : 'cell',
                    title: row ? `${found.units ? `unit ${at}: ` : ''}pid ${row.pid}` : 'free',
                },
                found.units ? String(at) : '',
            ),
        ),
    );
}
