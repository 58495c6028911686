import exec from 'k6/execution';
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
import {
  getCurrentStageIndex,
  tagWithCurrentStageIndex,
  tagWithCurrentStageProfile,
} from '../k6-utils.js';

const seen = new Counter('seen');

export const options = {
  scenarios: {
    all: {
      executor: 'ramping-vus',
      startVUs: 1,
      stages: [
        { duration: '700ms', target: 2 },
        { duration: '700ms', target: 2 },
        { duration: '700ms', target: 1 },
      ],
      gracefulRampDown: '1s',
    },
  },
  thresholds: {
    checks: ['rate==1'],
    'seen{stage:0,stage_profile:ramp-up}': ['count>0'],
    'seen{stage:1,stage_profile:steady}': ['count>0'],
    'seen{stage:2,stage_profile:ramp-down}': ['count>0'],
    'seen{stage:1,stage_profile:ramp-up}': ['count==0'],
  },
};

export default function () {
  tagWithCurrentStageIndex();
  tagWithCurrentStageProfile();
  if (exec.vu.metrics.tags.stage !== String(getCurrentStageIndex()))
    console.warn('a stage began just now');
  seen.add(1);
  sleep(0.1);
}
