// Row: 8.7 what is not there at init
import exec from 'k6/execution';

const told = [];
for (const [name, run] of [
  ['scenario', () => exec.scenario.name],
  ['instance', () => exec.instance.vusActive],
  ['vu', () => exec.vu.idInTest],
  ['tags', () => exec.vu.metrics.tags.a],
  ['options', () => exec.test.options],
]) {
  try {
    told.push(`${name}: ${JSON.stringify(run())}`.slice(0, 40));
  } catch (error) {
    told.push(`${name}: ${error}`);
  }
}

export default function () {
  told.forEach((it) => console.log(it));
}
