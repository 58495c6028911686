// Row: 8.4 fail without a message
import { fail } from 'k6';

export default function () {
  fail();
}
