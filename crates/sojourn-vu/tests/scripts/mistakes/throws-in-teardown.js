// Row: mistakes: an exception in teardown: exit code 107
export default function () {}

export function teardown() {
  throw new Error('thrown in teardown');
}
