// Row: 8.9 k6/browser: needs a browser
import { browser } from 'k6/browser';

export default function () {
  console.log(typeof browser);
}
