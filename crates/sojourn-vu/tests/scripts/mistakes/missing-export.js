// Row: mistakes: a module that does not export that
import { nobody } from '../lib/part.js';

export default function () {
  nobody();
}
