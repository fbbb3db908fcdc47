// SPDX-License-Identifier: MIT
// The checker, as WebAssembly: calls with text in, JSON out. The page and its worker both begin
// with this file.

async function unpack(base64) {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Engine {
    // `progress` is called with (states, expanded, depth, moves, bytes) while a search runs.
    static async start(wasm, progress) {
        const engine = new Engine();
        const imports = {
            wasi_snapshot_preview1: engine.system(),
            page: {progress: progress || (() => {})},
        };
        const {instance} = await WebAssembly.instantiate(wasm, imports);
        engine.exports = instance.exports;
        engine.exports._initialize();
        return engine;
    }

    // The few calls that the C library makes: it writes lines, and asks the clock.
    system() {
        const texts = (this.texts = {1: [], 2: []});
        const view = () => new DataView(this.exports.memory.buffer);
        return {
            fd_write: (file, vectors, count, written) => {
                let total = 0;
                for (let at = 0; at < count; at++) {
                    const begin = view().getUint32(vectors + 8 * at, true);
                    const length = view().getUint32(vectors + 8 * at + 4, true);
                    texts[file]?.push(
                        new Uint8Array(this.exports.memory.buffer, begin, length).slice(),
                    );
                    total += length;
                }
                view().setUint32(written, total, true);
                return 0;
            },
            clock_time_get: (clock, precision, result) => {
                view().setBigUint64(result, BigInt(Math.round(performance.now() * 1e6)), true);
                return 0;
            },
            fd_fdstat_get: (file, result) => {
                view().setUint8(result, 2);
                return 0;
            },
            fd_close: () => 0,
            fd_seek: () => 70,
            fd_read: () => 8,
            fd_prestat_get: () => 8,
            fd_prestat_dir_name: () => 8,
            fd_fdstat_set_flags: () => 0,
            path_open: () => 44,
            environ_get: () => 0,
            environ_sizes_get: (count, size) => {
                view().setUint32(count, 0, true);
                view().setUint32(size, 0, true);
                return 0;
            },
            args_get: () => 0,
            args_sizes_get: (count, size) => {
                view().setUint32(count, 0, true);
                view().setUint32(size, 0, true);
                return 0;
            },
            proc_exit: (code) => {
                throw new Error(`the engine ended with ${code}`);
            },
        };
    }

    taken(file) {
        const pieces = this.texts[file].splice(0);
        const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
        let at = 0;
        for (const piece of pieces) {
            all.set(piece, at);
            at += piece.length;
        }
        return new TextDecoder().decode(all);
    }

    // {answer}, or {error} in words for people.
    call(name, text, ...numbers) {
        const bytes = new TextEncoder().encode(text || '');
        if (bytes.length >= this.exports.room_size()) return {error: 'That is too long.'};
        const room = new Uint8Array(
            this.exports.memory.buffer,
            this.exports.room(),
            bytes.length + 1,
        );
        room.set(bytes);
        room[bytes.length] = 0;
        const done = this.exports[name](...numbers);
        const answer = this.taken(1),
            said = this.taken(2);
        if (done) return {taken: true, answer: answer ? JSON.parse(answer) : null};
        return {
            error:
                said.trim().replace(/^afteryou check: /, '') ||
                'The engine refused, and did not say why.',
        };
    }
}
