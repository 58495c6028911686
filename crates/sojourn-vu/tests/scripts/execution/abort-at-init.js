// Row: 8.7 exec.test.abort at init
import exec from 'k6/execution';

exec.test.abort('at init');

export default function () {}
