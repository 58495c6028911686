// Row: 8.3 executionSegment: a part of the iterations
// Args: --execution-segment 0:1/3 --execution-segment-sequence 0,1/3,2/3,1
import exec from 'k6/execution';

export const options = {
  scenarios: { all: { executor: 'shared-iterations', vus: 3, iterations: 10 } },
};

export default function () {
  console.log(`${exec.scenario.iterationInInstance} is ${exec.scenario.iterationInTest}`);
}
