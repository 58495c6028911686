// Row: 8.4 sleep
import { sleep } from 'k6';
import { same } from '../lib/same.js';

export const options = { thresholds: { checks: ['rate==1'] } };

export default function () {
  const took = (run) => {
    const begin = Date.now();
    run();
    return Date.now() - begin;
  };
  const third = took(() => sleep(0.3));
  same('seconds, fractions too', third >= 299 && third < 500, true);
  same('a text', took(() => sleep('0.1')) >= 99, true);
  same('nothing', took(() => sleep(0)) < 50, true);
  same('less than nothing', took(() => sleep(-1)) < 50, true);
  same('no result', sleep(0.01), undefined);
}
