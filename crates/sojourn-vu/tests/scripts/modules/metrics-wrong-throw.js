// Row: 8.6 with throw, a wrong value is an exception
import { Counter } from 'k6/metrics';

const counter = new Counter('good');

export const options = { throw: true };

export default function () {
  try {
    counter.add(NaN);
  } catch (error) {
    console.log(String(error));
  }
}
