// Row: mistakes: a module of k6's that is none
import other from 'k6/other';

export default function () {
  other();
}
