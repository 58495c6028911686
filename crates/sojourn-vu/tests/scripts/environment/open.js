// Row: 8.1 open
import { same, throws, strict } from '../lib/same.js';

export const options = Object.assign({ iterations: 1 }, strict);

const text = open('../lib/users.json');
const again = open('../lib/users.json');
const bytes = open('../lib/bytes.bin', 'b');
let missing = '';
try {
  open('../lib/not-there.txt');
} catch (error) {
  missing = String(error).replace(/"[^"]*\/(lib\/not-there.txt)"/, '"$1"');
}
let empty = '';
try {
  open('');
} catch (error) {
  empty = String(error);
}

export default function () {
  same('a text', JSON.parse(text).length, 3);
  same('the same twice', again, text);
  same('bytes are an ArrayBuffer', bytes instanceof ArrayBuffer, true);
  same('unchanged', Array.from(new Uint8Array(bytes)), [0, 1, 254, 255]);
  throws('only at init', () => open('../lib/users.json'), 'init');
  console.log(missing);
  console.log(empty);
}
