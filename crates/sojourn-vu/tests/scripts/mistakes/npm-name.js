// Row: 8.1 bare npm names
import lodash from 'lodash';

export default function () {
  lodash.noop();
}
