// Shares whose percentages are not what they seem in binary.
import { Rate } from 'k6/metrics';

const shares = [[7, 25], [14, 25], [29, 50], [1, 3], [2, 3], [1, 1]];
const rates = shares.map(([part, whole]) => new Rate(`rate_${part}_of_${whole}`));

export default function () {
  shares.forEach(([part, whole], at) => {
    for (let k = 0; k < whole; k++) rates[at].add(k < part);
  });
}
