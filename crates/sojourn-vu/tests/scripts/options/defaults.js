// Row: 8.3 the options' defaults
import exec from 'k6/execution';

export default function () {
  const all = exec.test.options;
  for (const name of Object.keys(all).sort()) {
    console.log(`${name}: ${JSON.stringify(all[name])}`);
  }
}
