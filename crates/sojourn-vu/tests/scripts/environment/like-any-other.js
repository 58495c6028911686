// Row: 8.1 globals: they are like any other
import { same } from '../lib/same.js';

export const options = { thresholds: { checks: ['rate==1'] } };

// Before anything has read it, or another of its kind.
globalThis.Int16Array = class Mine {};

const at = (name) => Object.getOwnPropertyDescriptor(globalThis, name);

export default function () {
  globalThis.console = { log: (text) => `mine: ${text}` };
  same('a console may be replaced', console.log('said'), 'mine: said');
  __ENV.ADDED = 'by the script';
  same('variables can be added', __ENV.ADDED, 'by the script');
  same('and are there the next time', globalThis.__ENV.ADDED, 'by the script');
  same('they are listed', Object.keys(globalThis).includes('__ENV'), true);
  same('and a value once read', typeof at('__ENV').value, 'object');

  const day = new Date(Date.UTC(2026, 0, 31));
  same('dates are dates', day instanceof Date && day.toISOString(), '2026-01-31T00:00:00.000Z');
  same('in JSON too', JSON.stringify({ day }), '{"day":"2026-01-31T00:00:00.000Z"}');
  const map = new Map([['a', 1]]);
  same('maps are maps', [map.get('a'), map.size, map instanceof Map].join(), '1,1,true');
  same('sets are sets', [...new Set([3, 1, 3])].join(), '3,1');
  same('weak ones too', new WeakMap([[map, 7]]).get(map) + Number(new WeakSet([map]).has(map)), 8);
  same('a value, not a getter', typeof at('Map').value, 'function');
  globalThis.Set = class Mine {};
  same('and replaceable', new Set() instanceof Set, true);
  same('bytes are bytes', new Uint8Array([300])[0], 44);
  same('what was replaced first stays so', Int16Array.name, 'Mine');
}
