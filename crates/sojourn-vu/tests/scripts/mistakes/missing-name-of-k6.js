// Row: mistakes: a name that a built-in module lacks
import http, { nothing } from 'k6/http';
import { check } from 'k6';

export default function () {
  check(null, { 'undefined': () => nothing === undefined && typeof http.get === 'function' });
}
