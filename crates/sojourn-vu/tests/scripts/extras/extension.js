// Row: 8.9 an extension that is not there
import thing from 'k6/x/nothing';

export default function () {
  thing();
}
