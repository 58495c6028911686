// The module `k6/timers`: the same as the globals.

export function setTimeout(callback: (...args: any[]) => void, ms?: number, ...args: any[]): number;
export function clearTimeout(id?: number): void;
export function setInterval(
  callback: (...args: any[]) => void,
  ms?: number,
  ...args: any[]
): number;
export function clearInterval(id?: number): void;

declare const timers: typeof import('./timers');
export default timers;
