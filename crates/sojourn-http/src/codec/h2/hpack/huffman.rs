//! The Huffman code of RFC 7541, appendix B.
//!
//! It is canonical: codes of one length follow each other in the order of their symbols, and a
//! longer code begins where the shorter ones end. So the symbols by length are the whole of it, and
//! both directions are computed from them.

use super::Broken;

/// Symbols by the length of their code, bits; 256 is the end of string.
const SYMBOLS: &[(u8, &[u16])] = &[
    (5, &[48, 49, 50, 97, 99, 101, 105, 111, 115, 116]),
    (
        6,
        &[
            32, 37, 45, 46, 47, 51, 52, 53, 54, 55, 56, 57, 61, 65, 95, 98, 100, 102, 103, 104,
            108, 109, 110, 112, 114, 117,
        ],
    ),
    (
        7,
        &[
            58, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86,
            87, 89, 106, 107, 113, 118, 119, 120, 121, 122,
        ],
    ),
    (8, &[38, 42, 44, 59, 88, 90]),
    (10, &[33, 34, 40, 41, 63]),
    (11, &[39, 43, 124]),
    (12, &[35, 62]),
    (13, &[0, 36, 64, 91, 93, 126]),
    (14, &[94, 125]),
    (15, &[60, 96, 123]),
    (19, &[92, 195, 208]),
    (20, &[128, 130, 131, 162, 184, 194, 224, 226]),
    (21, &[153, 161, 167, 172, 176, 177, 179, 209, 216, 217, 227, 229, 230]),
    (
        22,
        &[
            129, 132, 133, 134, 136, 146, 154, 156, 160, 163, 164, 169, 170, 173, 178, 181, 185,
            186, 187, 189, 190, 196, 198, 228, 232, 233,
        ],
    ),
    (
        23,
        &[
            1, 135, 137, 138, 139, 140, 141, 143, 147, 149, 150, 151, 152, 155, 157, 158, 165, 166,
            168, 174, 175, 180, 182, 183, 188, 191, 197, 231, 239,
        ],
    ),
    (24, &[9, 142, 144, 145, 148, 159, 171, 206, 215, 225, 236, 237]),
    (25, &[199, 207, 234, 235]),
    (26, &[192, 193, 200, 201, 202, 205, 210, 213, 218, 219, 238, 240, 242, 243, 255]),
    (
        27,
        &[
            203, 204, 211, 212, 214, 221, 222, 223, 241, 244, 245, 246, 247, 248, 250, 251, 252,
            253, 254,
        ],
    ),
    (
        28,
        &[
            2, 3, 4, 5, 6, 7, 8, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21, 23, 24, 25, 26, 27, 28,
            29, 30, 31, 127, 220, 249,
        ],
    ),
    (30, &[10, 13, 22, 256]),
];

/// The longest code, bits.
const BITS_MAX: u32 = 30;

/// Codes up to this length, every printable letter and digit among them, are found in one look.
const LOOK_BITS: u32 = 10;

/// By the next [`LOOK_BITS`] bits: symbol in the upper byte, length of its code in the lower; zero
/// where the code is longer.
static LOOK: [u16; 1 << LOOK_BITS] = look_table();

/// By place in [`SYMBOLS`]: the first code of that length, its bits at the top of [`BITS_MAX`].
static FIRST_CODES: [u32; SYMBOLS.len() + 1] = first_codes();

const fn first_codes() -> [u32; SYMBOLS.len() + 1] {
    let mut first = [0; SYMBOLS.len() + 1];
    let mut place = 0;
    while place < SYMBOLS.len() {
        let (bits, symbols) = SYMBOLS[place];
        first[place + 1] = first[place] + ((symbols.len() as u32) << (BITS_MAX - bits as u32));
        place += 1;
    }
    // Every sequence of bits is a code or the beginning of one.
    assert!(first[SYMBOLS.len()] == 1 << BITS_MAX);
    first
}

const fn look_table() -> [u16; 1 << LOOK_BITS] {
    let first = first_codes();
    let mut table = [0; 1 << LOOK_BITS];
    let mut place = 0;
    while place < SYMBOLS.len() && SYMBOLS[place].0 as u32 <= LOOK_BITS {
        let (bits, symbols) = SYMBOLS[place];
        let begin = (first[place] >> (BITS_MAX - LOOK_BITS)) as usize;
        let each = 1 << (LOOK_BITS - bits as u32);
        let mut index = 0;
        while index < symbols.len() * each {
            table[begin + index] = symbols[index / each] << 8 | bits as u16;
            index += 1;
        }
        place += 1;
    }
    table
}

/// Appends the decoded string to `out`.
pub(super) fn decode(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Broken> {
    let broken = Broken("a header block with a broken Huffman string");
    // No code is shorter than five bits.
    out.reserve(bytes.len() * 8 / 5);
    let mut rest = bytes.iter();
    // The next bits, at the top.
    let mut window = 0_u64;
    let mut bits = 0_u32;
    loop {
        while bits <= 56 {
            let Some(byte) = rest.next() else { break };
            window |= u64::from(*byte) << (56 - bits);
            bits += 8;
        }
        let entry = LOOK[(window >> (64 - LOOK_BITS)) as usize];
        let (symbol, length) = if entry == 0 {
            long_code((window >> (64 - BITS_MAX)) as u32)
        } else {
            (entry >> 8, u32::from(entry & 0xff))
        };
        if length > bits {
            // What is left is the padding: fewer than eight bits, all ones.
            let is_padding = bits < 8 && window == !(u64::MAX.checked_shr(bits).unwrap_or(0));
            return if is_padding { Ok(()) } else { Err(broken) };
        }
        let Ok(symbol) = u8::try_from(symbol) else {
            return Err(broken);
        };
        out.push(symbol);
        window <<= length;
        bits -= length;
    }
}

/// Symbol and length of a code longer than [`LOOK_BITS`] at the top of the given bits.
fn long_code(bits: u32) -> (u16, u32) {
    let place = FIRST_CODES.partition_point(|first| *first <= bits) - 1;
    let (length, symbols) = SYMBOLS[place];
    let index = (bits - FIRST_CODES[place]) >> (BITS_MAX - u32::from(length));
    (symbols[index as usize], u32::from(length))
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The other direction, bit by bit; our own requests go without.
    pub(crate) fn encode(text: &[u8]) -> Vec<u8> {
        let mut bits = Vec::new();
        for byte in text {
            let (place, index) = SYMBOLS
                .iter()
                .enumerate()
                .find_map(|(place, (_, symbols))| {
                    let index = symbols.iter().position(|symbol| *symbol == u16::from(*byte))?;
                    Some((place, index as u32))
                })
                .expect("every byte has a code");
            let length = u32::from(SYMBOLS[place].0);
            let code = (FIRST_CODES[place] >> (BITS_MAX - length)) + index;
            bits.extend((0..length).rev().map(|bit| code >> bit & 1 == 1));
        }
        while bits.len() % 8 != 0 {
            bits.push(true);
        }
        bits.chunks(8)
            .map(|bits| bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit)))
            .collect()
    }

    fn decoded(bytes: &[u8]) -> Result<Vec<u8>, Broken> {
        let mut out = Vec::new();
        decode(bytes, &mut out).map(|()| out)
    }

    #[test]
    fn examples_of_the_rfc() {
        let coded: &[u8] =
            &[0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff];
        assert_eq!(encode(b"www.example.com"), coded);
        assert_eq!(decoded(coded), Ok(b"www.example.com".to_vec()));
        assert_eq!(decoded(&[0xae, 0xc3, 0x77, 0x1a, 0x4b]), Ok(b"private".to_vec()));
        assert_eq!(decoded(&[]), Ok(Vec::new()));
    }

    #[test]
    fn broken_strings_are_refused() {
        for bytes in [
            // Padding of eight ones, of zeros, of too many; the end of string inside.
            &[0xff][..],
            &[0xff, 0xff, 0xff, 0xff],
            &[0b0000_0000],
            &[0xae, 0xc3, 0x77, 0x1a, 0x4b, 0xff],
            &[0xfe],
        ] {
            assert!(decoded(bytes).is_err(), "{bytes:x?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_coded_is_decoded(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(decoded(&encode(&text)), Ok(text));
        }

        #[test]
        fn nothing_panics_and_nothing_is_decoded_twice_alike(
            bytes in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            if let Ok(text) = decoded(&bytes) {
                prop_assert_eq!(encode(&text), bytes);
            }
        }
    }
}
