// Row: mistakes: setup returns a number that JSON has not
export function setup() {
  return { most: Infinity };
}

export default function () {}
