// Row: 8.9 k6/experimental/fs
import { open, SeekMode } from 'k6/experimental/fs';
import { same, strict } from '../lib/same.js';

export const options = Object.assign({ iterations: 2 }, strict);

const file = await open('../lib/users.json');
let wrong = '';
try {
  await open('../lib/not-there.json');
} catch (error) {
  wrong = `${error.name}: ${error.message}`.replace(/"[^"]*\/lib/, '"lib');
}

export default async function () {
  const { name, size } = await file.stat();
  same('stat', [name, size], ['users.json', 68]);
  await file.seek(0, SeekMode.Start);
  const buffer = new Uint8Array(10);
  same('read', [await file.read(buffer), String.fromCharCode(...buffer)], [10, '[{"name":"']);
  same('seek', await file.seek(3, SeekMode.Current), 13);
  // One byte nearer to the start than in C: k6 counts from the last byte.
  same('from the end', await file.seek(-3, SeekMode.End), 64);
  same('the rest', [await file.read(buffer), await file.read(buffer)], [4, null]);
  if (__ITER === 0) console.log(wrong);
}
