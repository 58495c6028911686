// Row: 8.1 async exec functions; the event loop drains before the iteration ends
import { Counter } from 'k6/metrics';

const steps = new Counter('steps');

export const options = {
  iterations: 2,
  thresholds: {
    'steps{at:awaited}': ['count==2'],
    'steps{at:forgotten}': ['count==2'],
    'steps{at:timer}': ['count==2'],
    iteration_duration: ['min>=60'],
  },
};

export default async function () {
  setTimeout(() => steps.add(1, { at: 'timer' }), 60);
  Promise.resolve().then(() => steps.add(1, { at: 'forgotten' }));
  await new Promise((resolve) => setTimeout(resolve, 20));
  steps.add(1, { at: 'awaited' });
}
