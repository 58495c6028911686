// Row: 8.1 TypeScript: types are taken away and not looked at
import { check } from 'k6';
import type { Options } from 'k6/options';

interface Point {
  x: number;
  y?: number;
}

enum Colour {
  Red,
  Green = 5,
  Blue,
}

export const options: Options = { iterations: 1, thresholds: { checks: ['rate==1'] } };

class Box<T> {
  constructor(private readonly inside: T) {}
  open(): T {
    return this.inside;
  }
}

function width(point: Point): number {
  return point.x + (point.y ?? 1);
}

export default function (): void {
  const wrong: number = 'not a number' as unknown as number;
  check(null, {
    'enums count': () => Colour.Blue === 6 && Colour[0] === 'Red',
    'generics and parameter properties': () => new Box<string>('a').open() === 'a',
    'optional members': () => width({ x: 2 }) === 3,
    'no type is checked': () => typeof wrong === 'string',
    satisfies: () => (({ x: 1 }) satisfies Point).x === 1,
  });
}
