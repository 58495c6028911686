// A module that scripts import by a relative path.
export const answer = 42;
export default function double(value) {
  return value * 2;
}
let calls = 0;
export function count() {
  calls += 1;
  return calls;
}
