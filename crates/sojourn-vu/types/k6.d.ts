// The module `k6`: what every script needs.

/** Tags of a sample: values become texts. */
export type Tags = Record<string, string | number | boolean>;

/** What a check looks at: a function of the value, or a value that counts as it is. */
export type Checker<T> = ((value: T) => unknown) | boolean | string | number | null | undefined;

/**
 * Counts each entry as passed or failed, in the metric `checks`. Never throws because of a failed
 * one.
 * @returns whether all passed
 */
export function check<T>(value: T, sets: Record<string, Checker<T>>, tags?: Tags): boolean;

/** Ends the iteration with an error. */
export function fail(message?: string): never;

/** Runs `run`; what it measures has the group's name in the tag `group`. */
export function group<T>(name: string, run: () => T): T;

/** Seeds this user's `Math.random`. */
export function randomSeed(seed: number): void;

/** Waits so many seconds. */
export function sleep(seconds: number): void;

declare const k6: {
  check: typeof check;
  fail: typeof fail;
  group: typeof group;
  randomSeed: typeof randomSeed;
  sleep: typeof sleep;
};
export default k6;
