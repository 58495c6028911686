// Row: 8.11 --out csv: its columns
// Args: --out csv=@OUT@/samples.csv
// Keep: head.txt
// After: cut -d, -f1,3- @OUT@/samples.csv | grep -E '^(metric_name|mine|checks)' | sort > @OUT@/head.txt
import { check } from 'k6';
import { Counter } from 'k6/metrics';

const mine = new Counter('mine');

export const options = { tags: { run: 'a' } };

export default function () {
  mine.add(1.5, { own: 'b', more: 'c d&e' });
  check(1, { good: true });
}
