// `k6/experimental/streams`: streams that are read, as far as k6 has them (WHATWG Streams Standard).
(function () {
    /** What is known of a stream, by its controller too; of readers, their streams. */
    const states = new WeakMap(), controllers = new WeakMap(), readers = new WeakMap();
    const MAKE = Symbol("make");
    const stateOf = (map, object, what) => {
        const found = map.get(object);
        if (found === undefined) throw new TypeError(`this is no ${what}`);
        return found;
    };
    const deferred = () => {
        const made = {};
        made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
        // Nobody has to look at it.
        made.promise.catch(() => {});
        return made;
    };
    const method = (object, name) => {
        const found = object[name];
        if (found !== undefined && typeof found !== "function") throw new TypeError(`${name} must be a function`);
        return found;
    };

    const takesMore = (state) => state.is === "readable" && !state.isEnding;
    const wanted = (state) => state.highWaterMark - state.size;
    const isWaitedFor = (state) => state.reader !== undefined && state.reader.reads.length > 0;
    /** Nothing of the source is called any more. */
    const forget = (state) => { state.pull = state.cancel = state.measure = undefined; };

    const finish = (state) => {
        state.is = "closed";
        forget(state);
        if (state.reader === undefined) return;
        state.reader.closed.resolve(undefined);
        state.reader.reads.splice(0).forEach((read) => read.resolve({ value: undefined, done: true }));
    };
    const fail = (state, reason) => {
        if (state.is !== "readable") return;
        Object.assign(state, { is: "errored", reason, queue: [], size: 0 });
        forget(state);
        if (state.reader === undefined) return;
        state.reader.closed.reject(reason);
        state.reader.reads.splice(0).forEach((read) => read.reject(reason));
    };
    const pullIfWanted = (state) => {
        if (!takesMore(state) || !state.isStarted || !(isWaitedFor(state) || wanted(state) > 0)) return;
        if (state.isPulling) {
            state.pullsAgain = true;
            return;
        }
        state.isPulling = true;
        const pulled = new Promise((resolve) => resolve(state.pull?.call(state.source, state.controller)));
        pulled.then(() => {
            state.isPulling = false;
            if (!state.pullsAgain) return;
            state.pullsAgain = false;
            pullIfWanted(state);
        }, (reason) => fail(state, reason));
    };
    const enqueue = (state, chunk) => {
        if (isWaitedFor(state)) {
            state.reader.reads.shift().resolve({ value: chunk, done: false });
        } else {
            try {
                const size = Number(state.measure === undefined ? 1 : state.measure(chunk));
                if (Number.isNaN(size) || size < 0 || size === Infinity) {
                    throw new RangeError("a chunk's size must be a number from 0 on");
                }
                state.queue.push({ chunk, size });
                state.size += size;
            } catch (reason) {
                fail(state, reason);
                throw reason;
            }
        }
        pullIfWanted(state);
    };
    const read = (state) => {
        if (state.is === "closed") return Promise.resolve({ value: undefined, done: true });
        if (state.is === "errored") return Promise.reject(state.reason);
        const first = state.queue.shift();
        if (first === undefined) {
            const waiting = deferred();
            state.reader.reads.push(waiting);
            pullIfWanted(state);
            return waiting.promise;
        }
        state.size = Math.max(0, state.size - first.size);
        if (state.isEnding && state.queue.length === 0) finish(state); else pullIfWanted(state);
        return Promise.resolve({ value: first.chunk, done: false });
    };
    const cancel = (state, reason) => {
        if (state.is === "closed") return Promise.resolve();
        if (state.is === "errored") return Promise.reject(state.reason);
        const { source, cancel } = state;
        Object.assign(state, { queue: [], size: 0 });
        finish(state);
        return new Promise((resolve) => resolve(cancel?.call(source, reason))).then(() => undefined);
    };

    class ReadableStreamDefaultController {
        constructor(key, state) {
            if (key !== MAKE) throw new TypeError("controllers are made by streams");
            controllers.set(this, state);
        }
        get desiredSize() {
            const state = stateOf(controllers, this, "ReadableStreamDefaultController");
            return state.is === "errored" ? null : state.is === "closed" ? 0 : wanted(state);
        }
        close() {
            const state = stateOf(controllers, this, "ReadableStreamDefaultController");
            if (!takesMore(state)) throw new TypeError("the stream is closed or errored already");
            state.isEnding = true;
            if (state.queue.length === 0) finish(state);
        }
        enqueue(chunk) {
            const state = stateOf(controllers, this, "ReadableStreamDefaultController");
            if (!takesMore(state)) throw new TypeError("the stream is closed or errored: it takes no chunk");
            enqueue(state, chunk);
        }
        error(reason) {
            fail(stateOf(controllers, this, "ReadableStreamDefaultController"), reason);
        }
    }

    class ReadableStreamDefaultReader {
        constructor(stream) {
            const state = stateOf(states, stream, "ReadableStream");
            if (state.reader !== undefined) throw new TypeError("the stream is locked by another reader");
            const own = { state, reads: [], closed: deferred() };
            state.reader = own;
            if (state.is === "closed") own.closed.resolve(undefined);
            if (state.is === "errored") own.closed.reject(state.reason);
            readers.set(this, own);
        }
        get closed() {
            const own = readers.get(this);
            if (own === undefined) return Promise.reject(new TypeError("this is no ReadableStreamDefaultReader"));
            return own.closed.promise;
        }
        async read() {
            const own = stateOf(readers, this, "ReadableStreamDefaultReader");
            if (own.state === undefined) throw new TypeError("the reader has released its stream");
            return read(own.state);
        }
        async cancel(reason) {
            const own = stateOf(readers, this, "ReadableStreamDefaultReader");
            if (own.state === undefined) throw new TypeError("the reader has released its stream");
            return cancel(own.state, reason);
        }
        releaseLock() {
            const own = stateOf(readers, this, "ReadableStreamDefaultReader");
            if (own.state === undefined) return;
            const released = new TypeError("the reader has released its stream");
            // One that was settled already is another promise from here on.
            if (own.state.is !== "readable") own.closed = deferred();
            own.closed.reject(released);
            own.reads.splice(0).forEach((read) => read.reject(released));
            own.state.reader = undefined;
            own.state = undefined;
        }
    }

    class ReadableStream {
        constructor(source = {}, strategy = {}) {
            if (source === null || typeof source !== "object" && typeof source !== "function") {
                throw new TypeError("a stream's source must be an object");
            }
            const given = strategy ?? {};
            const measure = method(given, "size");
            const highWaterMark = given.highWaterMark === undefined ? 1 : Number(given.highWaterMark);
            if (Number.isNaN(highWaterMark) || highWaterMark < 0) {
                throw new RangeError("highWaterMark must be a number from 0 on");
            }
            if (source.type !== undefined) {
                throw new TypeError(`there are no streams of type ${String(source.type)}`);
            }
            const start = method(source, "start");
            const state = {
                is: "readable", queue: [], size: 0, source, measure, highWaterMark,
                pull: method(source, "pull"), cancel: method(source, "cancel"),
                isStarted: false, isEnding: false, isPulling: false, pullsAgain: false,
            };
            states.set(this, state);
            state.controller = new ReadableStreamDefaultController(MAKE, state);
            const started = start?.call(source, state.controller);
            Promise.resolve(started).then(() => {
                state.isStarted = true;
                pullIfWanted(state);
            }, (reason) => fail(state, reason));
        }
        get locked() {
            return stateOf(states, this, "ReadableStream").reader !== undefined;
        }
        async cancel(reason) {
            const state = stateOf(states, this, "ReadableStream");
            if (state.reader !== undefined) throw new TypeError("the stream is locked: its reader can cancel it");
            return cancel(state, reason);
        }
        getReader(options) {
            stateOf(states, this, "ReadableStream");
            const mode = options?.mode;
            if (mode !== undefined) throw new TypeError(`there are no readers of mode ${String(mode)}`);
            return new ReadableStreamDefaultReader(this);
        }
    }

    class CountQueuingStrategy {
        constructor(given) {
            if (given?.highWaterMark === undefined) throw new TypeError("highWaterMark is needed");
            this.highWaterMark = Number(given.highWaterMark);
        }
        size() { return 1; }
    }

    return { ReadableStream, ReadableStreamDefaultReader, ReadableStreamDefaultController, CountQueuingStrategy };
})
