// Streams of several kinds, read to their ends; every check is one.
import { check } from 'k6';
import { setTimeout } from 'k6/timers';
import { Blob } from 'k6/websockets';
import streams, { CountQueuingStrategy, ReadableStream, ReadableStreamDefaultReader } from 'k6/experimental/streams';

export const options = { iterations: 1, thresholds: { checks: ['rate==1'] } };

const same = (name, found, expected) => check(null, { [name]: () => JSON.stringify(found) === JSON.stringify(expected) });

// What becomes of a promise: its value, or the name of what it was rejected with.
const outcome = (promise) => promise.then((value) => ['ok', value], (error) => ['no', error?.name ?? error]);

const thrown = (call) => {
  try {
    call();
  } catch (error) {
    return error.name;
  }
  return 'nothing';
};

async function all(stream) {
  const reader = stream.getReader(), found = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return found;
    found.push(value);
  }
}

async function sources() {
  // As in k6's documentation: chunks come by timers.
  const timed = new ReadableStream({
    start(controller) {
      let number = 0;
      const next = () => {
        if (number < 10) {
          controller.enqueue(++number);
          setTimeout(next, 1);
          return;
        }
        controller.close();
      };
      setTimeout(next, 1);
    },
  });
  same('timers', await all(timed), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);

  let pulls = 0;
  const pulled = new ReadableStream({
    pull(controller) {
      pulls += 1;
      if (pulls > 3) controller.close(); else controller.enqueue({ pulls });
    },
  }, new CountQueuingStrategy({ highWaterMark: 2 }));
  await null;
  await null;
  await null;
  same('no more is pulled than there is room for', pulls, 2);
  same('pulled', await all(pulled), [{ pulls: 1 }, { pulls: 2 }, { pulls: 3 }]);

  const slow = new ReadableStream({
    count: 0,
    start() { return new Promise((resolve) => setTimeout(resolve, 5)); },
    pull(controller) {
      this.count += 1;
      controller.enqueue(this.count);
      if (this.count === 3) controller.close();
      return new Promise((resolve) => setTimeout(resolve, 1));
    },
  }, { highWaterMark: 0 });
  same('waits for its start, and knows itself', await all(slow), [1, 2, 3]);
  same('empty', await all(new ReadableStream({ start(controller) { controller.close(); } })), []);
}

async function sizes() {
  let controller;
  const stream = new ReadableStream({ start(own) { controller = own; } }, { highWaterMark: 10, size: (chunk) => chunk.length });
  same('room', controller.desiredSize, 10);
  controller.enqueue('abcd');
  controller.enqueue('0123456789');
  same('room taken', controller.desiredSize, -4);
  const reader = stream.getReader();
  same('first', await reader.read(), { value: 'abcd', done: false });
  same('room again', controller.desiredSize, 0);
  controller.close();
  same('closed once', thrown(() => controller.close()), 'TypeError');
  same('takes no more', thrown(() => controller.enqueue('x')), 'TypeError');
  same('what was there is read', (await reader.read()).value, '0123456789');
  same('then it is done', await reader.read(), { value: undefined, done: true });
  same('and closed', await outcome(reader.closed), ['ok', undefined]);
  same('no size', thrown(() => new ReadableStream({}, { highWaterMark: -1 })), 'RangeError');
  same('no bytes', thrown(() => new ReadableStream({ type: 'bytes' })), 'TypeError');
}

async function ends() {
  let controller;
  const failing = new ReadableStream({ start(own) { controller = own; } });
  const waiting = outcome(failing.getReader().read());
  controller.error(new RangeError('broken'));
  same('who waits hears of it', await waiting, ['no', 'RangeError']);
  same('no room', controller.desiredSize, null);
  same('thrown by pull', await outcome(all(new ReadableStream({ pull() { throw new RangeError('x'); } }))), ['no', 'RangeError']);

  let reason;
  const cancelled = new ReadableStream({ cancel(why) { reason = why; } });
  const reader = cancelled.getReader();
  same('locked', [cancelled.locked, thrown(() => cancelled.getReader()), thrown(() => new ReadableStreamDefaultReader(cancelled))], [true, 'TypeError', 'TypeError']);
  same('only its reader cancels it', await outcome(cancelled.cancel()), ['no', 'TypeError']);
  await reader.cancel('enough');
  same('its source is told', reason, 'enough');
  same('cancelled is closed', await reader.read(), { value: undefined, done: true });

  const passed = new ReadableStream({ start(own) { own.enqueue(1); own.enqueue(2); own.close(); } }, { highWaterMark: 5 });
  const first = passed.getReader();
  await first.read();
  first.releaseLock();
  same('released', await outcome(first.read()), ['no', 'TypeError']);
  same('the next reader goes on', await all(passed), [2]);
  same('a default export', streams.ReadableStream === ReadableStream, true);
}

async function blobs() {
  const blob = new Blob(['ab', 'c']), stream = blob.stream();
  same('of a blob', [blob instanceof Blob, stream instanceof ReadableStream], [true, true]);
  const chunks = await all(stream);
  same('its bytes', [chunks.length, chunks[0] instanceof Uint8Array, [...chunks[0]]], [1, true, [97, 98, 99]]);
  same('of an empty one', await all(new Blob().stream()), []);
}

export default async function () {
  await sources();
  await sizes();
  await ends();
  await blobs();
}
