// Row: 8.3 startTime
import exec from 'k6/execution';

export const options = {
  scenarios: {
    now: { executor: 'per-vu-iterations' },
    later: { executor: 'per-vu-iterations', startTime: '1.2s' },
  },
};

export default function () {
  const at = exec.instance.currentTestRunDuration;
  console.log(
    `${exec.scenario.name}: ${at < 600 ? 'soon' : at >= 1200 && at < 1800 ? 'on time' : at}`,
  );
}
