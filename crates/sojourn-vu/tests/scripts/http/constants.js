// Row: 8.5 constants
import http from 'k6/http';

export default function () {
  for (const name of Object.keys(http).sort()) {
    const value = http[name];
    console.log(`${name}: ${typeof value === 'function' ? 'function' : JSON.stringify(value)}`);
  }
}
