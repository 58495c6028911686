// Row: 8.3 noSetup, noTeardown
// Args: --no-setup --no-teardown
export function setup() {
  console.log('not called');
  return 1;
}

export default function (data) {
  console.log(`default: ${typeof data}`);
}

export function teardown() {
  console.log('not called');
}
