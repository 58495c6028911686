// Row: mistakes: an endless loop in an iteration is interrupted when its time is over
export const options = {
  scenarios: { all: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '200ms' } },
};

export default function () {
  for (;;);
}
