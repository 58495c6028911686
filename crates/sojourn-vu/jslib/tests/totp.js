import { TOTP } from '../totp.js';
import { done, options, same, throws } from './compare.js';

export { options };

/**
 * RFC 6238, appendix B: seconds and codes of eight digits for the secret `12345678901234567890`.
 */
const vectors = [
  [59, '94287082'],
  [1111111109, '07081804'],
  [1111111111, '14050471'],
  [1234567890, '89005924'],
  [2000000000, '69279037'],
  [20000000000, '65353130'],
];

export default async function () {
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
  const now = Date.now;
  const eight = new TOTP(secret, 8);
  const six = new TOTP(secret.toLowerCase().replace(/(.{4})/g, '$1 '));
  try {
    for (const [seconds, code] of vectors) {
      Date.now = () => seconds * 1000;
      same(`at ${seconds}`, await eight.gen(), code);
      same(`at ${seconds}, six digits`, await six.gen(), code.slice(2));
      same('verified', await eight.verify(code), true);
    }
    Date.now = () => 59000 + 30000;
    same('the step before is good', await eight.verify('94287082'), true);
    same('by bias', await eight.gen(30, -1), '94287082');
    Date.now = () => 59000 + 90000;
    same('not for ever', await eight.verify('94287082'), false);
  } finally {
    Date.now = now;
  }
  throws('no Base32', () => new TOTP('0189'), 'Base32');
  done();
}
