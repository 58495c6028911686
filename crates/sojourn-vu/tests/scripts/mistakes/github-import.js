// Row: mistakes: an import from github.com
import other from 'github.com/someone/something/x.js';

export default function () {
  other();
}
