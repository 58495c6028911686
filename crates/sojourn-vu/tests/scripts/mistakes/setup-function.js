// Row: mistakes: setup returns what JSON has not
export function setup() {
  return { call: () => 1 };
}

export default function () {}
