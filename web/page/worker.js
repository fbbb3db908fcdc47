// SPDX-License-Identifier: MIT
// The complete search, and hints, beside the page: stopping one is ending the worker.

const MEMORY = 1500 * 2 ** 20;
let engine;

onmessage = async ({data}) => {
    if (data.wasm) {
        engine = await Engine.start(data.wasm, (states, expanded, depth, moves, bytes) =>
            postMessage({progress: {states, expanded, depth, moves, bytes}}),
        );
        return postMessage({ready: true});
    }
    try {
        if (data.check !== undefined)
            return postMessage({verdict: engine.call('check', data.check, MEMORY)});
        engine.call('open', data.hint);
        data.moves.forEach((move, index) => engine.call('make', move, index));
        postMessage({hint: engine.call('hint', data.property, data.moves.length)});
    } catch (error) {
        postMessage({
            verdict: {error: `The search failed: ${error.message}`},
            hint: {error: error.message},
        });
    }
};
