// Row: 8.2 setup without a result
export function setup() {}

export default function (data) {
  console.log(`default: ${typeof data}`);
}

export function teardown(data) {
  console.log(`teardown: ${typeof data}`);
}
