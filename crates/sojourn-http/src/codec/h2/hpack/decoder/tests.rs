//! The examples of RFC 7541, appendix C, encoders of any manner, and broken blocks.

use proptest::prelude::*;

use super::super::huffman::tests::encode;
use super::super::write_field;
use super::*;

const LIST_MAX: usize = 1 << 16;

type Pair = (Vec<u8>, Vec<u8>);

/// Keeps what it is shown.
#[derive(Default)]
struct Kept {
    pairs: Vec<Pair>,
    is_too_long: bool,
    /// Only names beginning so are of interest.
    prefix: &'static [u8],
}

impl Fields for Kept {
    fn wants(&mut self, name: &[u8]) -> bool {
        name.starts_with(self.prefix)
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.pairs.push((name.to_vec(), value.to_vec()));
    }

    fn too_long(&mut self) {
        self.is_too_long = true;
    }
}

fn decoded(decoder: &mut Decoder, block: &[u8]) -> Result<Vec<Pair>, Broken> {
    let mut kept = Kept::default();
    decoder.decode(block, LIST_MAX, &mut kept)?;
    assert!(!kept.is_too_long);
    Ok(kept.pairs)
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|pair| {
            let pair = std::str::from_utf8(pair).expect("ASCII");
            u8::from_str_radix(pair, 16).expect("hexadecimal")
        })
        .collect()
}

/// Blocks of one connection, each with the list it stands for and the size of the table after it.
fn check(table_bytes_max: usize, blocks: &[(&str, &str, usize)]) {
    let mut decoder = Decoder::new();
    decoder.table.resize(table_bytes_max);
    for (block, list, table_bytes) in blocks {
        let expected: Vec<Pair> = list
            .lines()
            .map(|line| {
                let (name, value) = line.trim().split_once(": ").expect("name: value");
                (name.as_bytes().to_vec(), value.as_bytes().to_vec())
            })
            .collect();
        assert_eq!(decoded(&mut decoder, &hex(block)), Ok(expected), "{block}");
        let mut bytes = 0;
        for index in 0.. {
            let Some((name, value)) = decoder.table.get(index) else { break };
            bytes += name.len() + value.len() + FIELD_OVERHEAD;
        }
        assert_eq!(bytes, *table_bytes, "{block}");
    }
}

#[test]
fn single_fields_of_appendix_c_2() {
    check(
        4096,
        &[
            (
                "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
                "custom-key: custom-header",
                55,
            ),
            ("040c 2f73 616d 706c 652f 7061 7468", ":path: /sample/path", 55),
            ("1008 7061 7373 776f 7264 0673 6563 7265 74", "password: secret", 55),
            ("82", ":method: GET", 55),
        ],
    );
}

const REQUESTS: [&str; 3] = [
    ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com",
    ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\ncache-control: no-cache",
    ":method: GET\n:scheme: https\n:path: /index.html\n:authority: www.example.com\n\
     custom-key: custom-value",
];

#[test]
fn requests_of_appendix_c_3() {
    check(
        4096,
        &[
            ("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", REQUESTS[0], 57),
            ("8286 84be 5808 6e6f 2d63 6163 6865", REQUESTS[1], 110),
            (
                "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
                REQUESTS[2],
                164,
            ),
        ],
    );
}

#[test]
fn requests_of_appendix_c_4() {
    check(
        4096,
        &[
            ("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", REQUESTS[0], 57),
            ("8286 84be 5886 a8eb 1064 9cbf", REQUESTS[1], 110),
            ("8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", REQUESTS[2], 164),
        ],
    );
}

const RESPONSES: [&str; 3] = [
    ":status: 302\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\n\
     location: https://www.example.com",
    ":status: 307\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\n\
     location: https://www.example.com",
    ":status: 200\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:22 GMT\n\
     location: https://www.example.com\ncontent-encoding: gzip\n\
     set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
];

#[test]
fn responses_of_appendix_c_5() {
    check(
        256,
        &[
            (
                "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 \
                 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 \
                 6c65 2e63 6f6d",
                RESPONSES[0],
                222,
            ),
            ("4803 3330 37c1 c0bf", RESPONSES[1], 222),
            (
                "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d \
                 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 \
                 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e \
                 3d31",
                RESPONSES[2],
                215,
            ),
        ],
    );
}

#[test]
fn responses_of_appendix_c_6() {
    check(
        256,
        &[
            (
                "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 \
                 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
                RESPONSES[0],
                222,
            ),
            ("4883 640e ffc1 c0bf", RESPONSES[1], 222),
            (
                "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab \
                 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f \
                 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
                RESPONSES[2],
                215,
            ),
        ],
    );
}

#[test]
fn broken_blocks_are_refused() {
    for block in [
        &b"\x80"[..],
        b"\xbe",
        b"\x7f\x00\x00",
        b"\x40\x05ab",
        b"\x40",
        b"\x82\x20",
        b"\x3f\xff\xff\x03",
        b"\x00\x81\x00\x00",
        b"\x0f",
    ] {
        assert!(decoded(&mut Decoder::new(), block).is_err(), "{block:x?}");
    }
    assert!(decoded(&mut Decoder::new(), b"\x20\x3f\xe1\x1f\x82").is_ok());
}

#[test]
fn a_bomb_is_not_shown_beyond_the_bound_and_leaves_the_table_right() {
    let mut decoder = Decoder::new();
    let mut block = Vec::new();
    block.extend_from_slice(b"\x40\x01b\x7f\xa1\x1e");
    block.extend(std::iter::repeat_n(b'v', 4_000));
    // 60,000 bytes stand for 240 MB.
    block.extend(std::iter::repeat_n(0xbe, 60_000));
    block.extend_from_slice(b"\x40\x01a\x01z");
    let mut kept = Kept::default();
    decoder.decode(&block, LIST_MAX, &mut kept).expect("a valid block");
    assert!(kept.is_too_long);
    let shown: usize = kept.pairs.iter().map(|(name, value)| name.len() + value.len()).sum();
    assert!(shown <= LIST_MAX);
    let after = decoded(&mut decoder, b"\xbe").expect("a valid block");
    assert_eq!(after, [(b"a".to_vec(), b"z".to_vec())]);
}

#[test]
fn what_is_of_no_interest_still_enters_the_table() {
    let mut decoder = Decoder::new();
    let mut kept = Kept { prefix: b"w", ..Kept::default() };
    let block = b"\x40\x01a\x01x\x00\x01b\x01y\x40\x01w\x01z";
    decoder.decode(block, LIST_MAX, &mut kept).expect("a valid block");
    assert_eq!(kept.pairs, [(b"w".to_vec(), b"z".to_vec())]);
    let after = decoded(&mut decoder, b"\xbf").expect("a valid block");
    assert_eq!(after, [(b"a".to_vec(), b"x".to_vec())]);
}

/// How an encoder writes a field, if it can.
#[derive(Clone, Debug)]
struct Written {
    name: Vec<u8>,
    value: Vec<u8>,
    /// Prefix of the representation: 6 for one that enters the table.
    form: (u8, u8),
    codes_name: bool,
    codes_value: bool,
    may_index: bool,
}

fn written() -> impl Strategy<Value = Written> {
    let text = || proptest::collection::vec(prop_oneof![Just(b'a'), any::<u8>()], 0..12);
    let form = prop_oneof![Just((6, 0x40)), Just((4, 0)), Just((4, 0x10))];
    let name = prop_oneof![text(), "[a-c]".prop_map(String::into_bytes)];
    (name, text(), form, any::<[bool; 3]>()).prop_map(|(name, value, form, flags)| Written {
        name,
        value,
        form,
        codes_name: flags[0],
        codes_value: flags[1],
        may_index: flags[2],
    })
}

fn write_string(text: &[u8], is_coded: bool, out: &mut Vec<u8>) {
    let coded = if is_coded { encode(text) } else { text.to_vec() };
    integer::write(coded.len(), 7, if is_coded { 0x80 } else { 0 }, out);
    out.extend(coded);
}

/// An encoder with a table of its own, kept as simply as can be.
fn write(field: &Written, table: &mut Vec<Pair>, out: &mut Vec<u8>) {
    let whole = (field.name.clone(), field.value.clone());
    if let Some(place) = table.iter().position(|entry| *entry == whole && field.may_index) {
        integer::write(place + 62, 7, 0x80, out);
        return;
    }
    let of_name = table.iter().position(|(name, _)| *name == field.name && field.may_index);
    integer::write(of_name.map_or(0, |place| place + 62), field.form.0, field.form.1, out);
    if of_name.is_none() {
        write_string(&field.name, field.codes_name, out);
    }
    write_string(&field.value, field.codes_value, out);
    if field.form.0 == 6 {
        table.insert(0, whole);
        let size =
            |table: &[Pair]| table.iter().map(|(n, v)| n.len() + v.len() + 32).sum::<usize>();
        while size(table) > 200 {
            table.pop();
        }
    }
}

proptest! {
    #[test]
    fn any_encoder_is_understood(
        blocks in proptest::collection::vec(proptest::collection::vec(written(), 0..8), 1..8),
    ) {
        let mut decoder = Decoder::new();
        let mut table = Vec::new();
        for (number, fields) in blocks.iter().enumerate() {
            let mut block = Vec::new();
            if number == 0 {
                super::super::write_size_update(200, &mut block);
            }
            for field in fields {
                write(field, &mut table, &mut block);
            }
            let expected: Vec<Pair> =
                fields.iter().map(|field| (field.name.clone(), field.value.clone())).collect();
            prop_assert_eq!(decoded(&mut decoder, &block), Ok(expected));
        }
    }

    #[test]
    fn our_own_encoder_is_understood(
        pairs in proptest::collection::vec(("[!-~]{1,20}", "[ -~]{0,200}"), 0..10),
    ) {
        let mut block = Vec::new();
        for (name, value) in &pairs {
            write_field(name.as_bytes(), value.as_bytes(), &mut block);
        }
        let expected: Vec<Pair> = pairs
            .into_iter()
            .map(|(name, value)| (name.into_bytes(), value.into_bytes()))
            .collect();
        prop_assert_eq!(decoded(&mut Decoder::new(), &block), Ok(expected));
    }

    #[test]
    fn nothing_panics(block in proptest::collection::vec(any::<u8>(), 0..100)) {
        let mut decoder = Decoder::new();
        decoded(&mut decoder, &block).ok();
        decoded(&mut decoder, &block).ok();
    }
}
