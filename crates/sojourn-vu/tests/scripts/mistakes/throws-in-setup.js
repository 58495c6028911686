// Row: mistakes: an exception in setup: exit code 107
export function setup() {
  throw new Error('thrown in setup');
}

export default function () {
  console.log('not called');
}

export function teardown() {
  console.log('teardown');
}
