// Says on the log which executor and options a test ended up with.
import exec from 'k6/execution';

export function plan() {
  const { scenarios } = exec.test.options;
  for (const name of Object.keys(scenarios).sort()) {
    console.log(`${name}: ${JSON.stringify(scenarios[name], Object.keys(scenarios[name]).sort())}`);
  }
}
