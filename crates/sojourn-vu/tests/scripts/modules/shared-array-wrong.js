// Row: 8.6 SharedArray: what is no good
import { SharedArray } from 'k6/data';

const told = [];
const attempt = (run) => {
  try {
    run();
    told.push('made');
  } catch (error) {
    told.push(String(error));
  }
};
attempt(() => new SharedArray('', () => []));
attempt(() => new SharedArray('a'));
attempt(() => new SharedArray('b', () => 5));
attempt(() => new SharedArray('c', () => ({})));
attempt(
  () =>
    new SharedArray('d', () => {
      throw new Error('inside');
    }),
);
attempt(() => new SharedArray('e', async () => []));
attempt(() => SharedArray('f', () => []));

export default function () {
  told.forEach((it) => console.log(it));
}
