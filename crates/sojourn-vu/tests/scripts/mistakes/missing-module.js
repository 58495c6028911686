// Row: mistakes: a file that is not there
import { a } from './not-there.js';

export default function () {
  a();
}
