// The module `k6/metrics`: metrics of one's own, made at init.
import type { Tags } from '../k6';

declare abstract class Metric {
  /** `isTime`: the values are milliseconds. */
  constructor(name: string, isTime?: boolean);
  readonly name: string;
  /** False if the value was none. */
  add(value: number | boolean, tags?: Tags): boolean;
}

/** A sum. */
export class Counter extends Metric {}
/** The last value, the least and the most. */
export class Gauge extends Metric {}
/** The share of values that are not zero. */
export class Rate extends Metric {}
/** A distribution. */
export class Trend extends Metric {}

declare const metrics: typeof import('./metrics');
export default metrics;
