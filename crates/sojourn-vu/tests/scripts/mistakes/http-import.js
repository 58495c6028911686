// Row: mistakes: an import over http without TLS
import other from 'http://127.0.0.1:1/x.js';

export default function () {
  other();
}
