// One-time passwords by time (RFC 6238), over HOTP (RFC 4226) with SHA-1.
import crypto from 'k6/crypto';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The bytes of a Base32 text (RFC 4648, section 6); spaces, hyphens and padding are left out. */
function fromBase32(text) {
  const bytes = [];
  let value = 0;
  let bits = 0;
  for (const letter of text.toUpperCase().replace(/[\s=-]/g, '')) {
    const digit = BASE32.indexOf(letter);
    if (digit < 0) throw new Error(`the secret is not Base32: it has the letter ${letter}`);
    value = ((value << 5) | digit) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >> bits) & 0xff);
    }
  }
  return new Uint8Array(bytes);
}

/** RFC 4226, section 5.3. */
function hotp(secret, counter, digits) {
  const message = new Uint8Array(8);
  for (let at = 7, left = counter; at >= 0; at--, left = Math.floor(left / 256))
    message[at] = left % 256;
  const digest = new Uint8Array(crypto.hmac('sha1', secret.buffer, message.buffer, 'binary'));
  const offset = digest[19] & 0x0f;
  const number =
    (digest[offset] & 0x7f) * 0x1000000 +
    (digest[offset + 1] << 16) +
    (digest[offset + 2] << 8) +
    digest[offset + 3];
  return String(number % 10 ** digits).padStart(digits, '0');
}

export class TOTP {
  constructor(secret, digits = 6) {
    this.secret = fromBase32(secret);
    this.digits = digits;
  }

  /** A promise of the code; `bias` counts time steps from now. */
  async gen(timeStep = 30, bias = 0) {
    return hotp(this.secret, Math.floor(Date.now() / 1000 / timeStep) + bias, this.digits);
  }

  /** A promise of whether the code is of this time step, the one before or the one after. */
  async verify(code, timeStep = 30) {
    for (const bias of [0, -1, 1]) {
      if ((await this.gen(timeStep, bias)) === String(code)) return true;
    }
    return false;
  }
}

export default TOTP;
