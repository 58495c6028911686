// Row: 8.2 minIterationDuration pads iterations
export const options = {
  iterations: 3,
  minIterationDuration: '200ms',
  thresholds: { iteration_duration: ['max<150'] },
};

let last = 0;

export default function () {
  const now = Date.now();
  if (last > 0) console.log(`at least 200 ms: ${now - last >= 199}`);
  last = now;
}
