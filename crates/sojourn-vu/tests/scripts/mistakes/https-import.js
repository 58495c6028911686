// Row: mistakes: an import from where nobody answers
import other from 'https://127.0.0.1:1/x.js';

export default function () {
  other();
}
