// Row: 8.1 __VU and __ITER
// Log: sorted
export const options = {
  scenarios: { all: { executor: 'per-vu-iterations', vus: 2, iterations: 3 } },
};

const atInit = typeof __ITER;

export function setup() {
  console.log(`setup: vu ${__VU}, __ITER is ${typeof __ITER}, ${atInit}`);
}

export default function () {
  console.log(`vu ${__VU}, iteration ${__ITER}`);
}

export function teardown() {
  console.log(`teardown: vu ${__VU}, __ITER is ${typeof __ITER}`);
}

export function handleSummary() {
  console.log(`summary: vu ${__VU}`);
  return {};
}
