// Row: 8.1 TextEncoder, TextDecoder
import { same, strict } from '../lib/same.js';

export const options = Object.assign({ iterations: 1 }, strict);

export default function () {
  const bytes = new TextEncoder().encode('aé€😀');
  same('encoded', Array.from(bytes), [97, 195, 169, 226, 130, 172, 240, 159, 152, 128]);
  same('kind', bytes instanceof Uint8Array, true);
  same('decoded', new TextDecoder().decode(bytes), 'aé€😀');
  same('named', new TextDecoder('utf-8').encoding, 'utf-8');
  same('encoder', new TextEncoder().encoding, 'utf-8');
  same('wrong bytes', new TextDecoder().decode(new Uint8Array([97, 255, 98])), 'a\ufffdb');
  let fatal = false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255]));
  } catch (error) {
    fatal = error instanceof TypeError;
  }
  same('fatal', fatal, true);
  same('a mark is left out', new TextDecoder().decode(new Uint8Array([239, 187, 191, 97])), 'a');
}
