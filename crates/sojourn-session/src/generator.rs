//! Values that are made anew at each use.

use sojourn_pace::{random_u64, random_unit};

/// What kind of value is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Generator {
    /// A whole number, uniform, both ends included.
    RandomNumber {
        /// Least.
        low: i64,
        /// Greatest.
        high: i64,
    },
    /// Letters and digits.
    RandomString {
        /// How many.
        length: u32,
    },
    /// Digits 0 to 9 and a to f.
    RandomHex {
        /// How many.
        length: u32,
    },
    /// A UUID of version 4.
    RandomUuid,
    /// The present time since 1970, as it is handed in.
    Timestamp {
        /// In whole seconds rather than milliseconds.
        is_seconds: bool,
    },
    /// Another number each time, over all clients.
    Sequence {
        /// The first.
        start: u64,
        /// From one to the next.
        step: u64,
    },
}

/// A client's random numbers: a function of the run's seed, the client's number and how many it has
/// drawn.
#[derive(Debug)]
pub(crate) struct Draws<'a> {
    pub(crate) seed: u64,
    pub(crate) client: u64,
    pub(crate) drawn: &'a mut u32,
}

impl Draws<'_> {
    fn next(&mut self) -> u64 {
        let drawn = u64::from(*self.drawn);
        *self.drawn = self.drawn.wrapping_add(1);
        random_u64(self.seed, self.client, drawn)
    }

    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        let drawn = u64::from(*self.drawn);
        *self.drawn = self.drawn.wrapping_add(1);
        random_unit(self.seed, self.client, drawn)
    }

    /// Uniform in `0..count`, 0 if that is empty: the high half of a product (Lemire 2019), whose
    /// bias is at most `count` over 2^64.
    pub(crate) fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(count)) >> 64) as u64
    }

    /// Exponential of mean 1, by inversion.
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }
}

const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

impl Generator {
    /// Appends a value. `next` is how many numbers of the sequence were taken before.
    pub(crate) fn write(
        self,
        draws: &mut Draws<'_>,
        unix_ms: u64,
        next: &mut dyn FnMut() -> u64,
        out: &mut String,
    ) {
        match self {
            Self::RandomNumber { low, high } => {
                // Ends are within 53 bits, so that neither sum can leave 64.
                let count = high.abs_diff(low).saturating_add(1);
                let offset = draws.below(count);
                out.push_str(&low.wrapping_add_unsigned(offset).to_string());
            }
            Self::RandomString { length } => letters(draws, length, LETTERS, out),
            Self::RandomHex { length } => letters(draws, length, b"0123456789abcdef", out),
            Self::RandomUuid => uuid(draws, out),
            Self::Timestamp { is_seconds } => {
                let value = if is_seconds { unix_ms / 1_000 } else { unix_ms };
                out.push_str(&value.to_string());
            }
            Self::Sequence { start, step } => {
                let value = start.wrapping_add(step.wrapping_mul(next()));
                out.push_str(&value.to_string());
            }
        }
    }
}

/// Five to a draw: what is left of it then is still a million times as many as there are letters.
fn letters(draws: &mut Draws<'_>, length: u32, among: &[u8], out: &mut String) {
    let count = among.len() as u64;
    let mut rest = 0;
    for place in 0..length {
        if place % 5 == 0 {
            rest = draws.next();
        }
        out.push(char::from(among[(rest % count) as usize]));
        rest /= count;
    }
}

/// Version 4's layout (RFC 9562) over 122 drawn bits.
fn uuid(draws: &mut Draws<'_>, out: &mut String) {
    let high = (draws.next() & !0xF000) | 0x4000;
    let low = (draws.next() & !(0b11 << 62)) | (0b10 << 62);
    let digits = format!("{high:016x}{low:016x}");
    for (place, digit) in digits.chars().enumerate() {
        if matches!(place, 8 | 12 | 16 | 20) {
            out.push('-');
        }
        out.push(digit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(generator: Generator, count: u32) -> Vec<String> {
        let mut drawn = 0;
        let mut taken = 0;
        let mut next = || {
            taken += 1;
            taken - 1
        };
        let mut draws = Draws { seed: 7, client: 3, drawn: &mut drawn };
        let one = |_| {
            let mut out = String::new();
            generator.write(&mut draws, 1_700_000_000_123, &mut next, &mut out);
            out
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn numbers_are_uniform_and_include_both_ends() {
        let values = made(Generator::RandomNumber { low: 1, high: 3 }, 30_000);
        for wanted in ["1", "2", "3"] {
            let count = values.iter().filter(|value| *value == wanted).count() as f64;
            // Three deviations of a binomial count of 30,000 by a third.
            let deviation = (30_000.0_f64 * (1.0 / 3.0) * (2.0 / 3.0)).sqrt();
            assert!((count - 10_000.0).abs() < 3.0 * deviation, "{wanted}: {count}");
        }
        assert!(values.iter().all(|value| ["1", "2", "3"].contains(&value.as_str())));
        assert_eq!(made(Generator::RandomNumber { low: -5, high: -5 }, 1), ["-5"]);
    }

    #[test]
    fn letters_are_of_their_set_and_length() {
        let text = made(Generator::RandomString { length: 20_000 }, 1).remove(0);
        assert_eq!(text.len(), 20_000);
        for letter in LETTERS {
            let count = text.bytes().filter(|byte| byte == letter).count() as f64;
            // 322.6 expected; five deviations, since there are 62 of them.
            assert!((count - 322.6).abs() < 5.0 * 18.0, "{letter}: {count}");
        }
        let hex = made(Generator::RandomHex { length: 33 }, 1).remove(0);
        assert!(
            hex.len() == 33 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        );
    }

    #[test]
    fn ids_times_and_sequences() {
        let ids = made(Generator::RandomUuid, 2);
        assert!(ids[0] != ids[1] && ids[0].len() == 36);
        assert_eq!((&ids[0][14..15], ids[0].matches('-').count()), ("4", 4));
        assert!(matches!(&ids[0][19..20], "8" | "9" | "a" | "b"));
        assert_eq!(made(Generator::Timestamp { is_seconds: false }, 1), ["1700000000123"]);
        assert_eq!(made(Generator::Timestamp { is_seconds: true }, 1), ["1700000000"]);
        assert_eq!(made(Generator::Sequence { start: 10, step: 5 }, 3), ["10", "15", "20"]);
    }
}
