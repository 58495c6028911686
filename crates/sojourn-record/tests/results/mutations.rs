//! Whatever the bytes, reading them ends with results or an error, never with a panic.

use proptest::{collection::vec, prelude::*, sample::Index};
use sojourn_record::results::Detail;

use super::util::read;

const FILES: [&[u8]; 4] = [
    include_bytes!("../fixtures/attack.bin"),
    include_bytes!("../fixtures/attack.json"),
    include_bytes!("../fixtures/attack.csv"),
    include_bytes!("../fixtures/other-layout.bin"),
];

/// Bytes that mean something to one of the encodings, good and bad.
const PIECES: [&[u8]; 20] = [
    b"\0",
    b"\xff",
    b"\xf8\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\x80",
    b"\xf7",
    b"\x7f",
    b"\x01",
    b"\xff\x81",
    b"\xff\x80",
    b"\xfc\x3f\xff\xff\xff",
    b"\"",
    b"\\",
    b"\\ud800",
    b"\n",
    b",",
    b"{",
    b"}",
    b"[",
    b"-1",
    b"99999999999999999999",
];

#[derive(Clone, Debug)]
enum Change {
    Set(Index, u8),
    Insert(Index, Index),
    Remove(Index, usize),
    Copy(Index, Index, usize),
    Cut(Index),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<Index>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (at(), at()).prop_map(|(to, piece)| Change::Insert(to, piece)),
        (at(), 1..40_usize).prop_map(|(from, count)| Change::Remove(from, count)),
        (at(), at(), 1..200_usize).prop_map(|(from, to, count)| Change::Copy(from, to, count)),
        at().prop_map(Change::Cut),
    ]
}

fn apply(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        if bytes.is_empty() {
            break;
        }
        let length = bytes.len();
        match change {
            Change::Set(at, byte) => bytes[at.index(length)] = *byte,
            Change::Insert(to, piece) => {
                let to = to.index(length);
                bytes.splice(to..to, PIECES[piece.index(PIECES.len())].iter().copied());
            }
            Change::Remove(from, count) => {
                let from = from.index(length);
                bytes.drain(from..(from + count).min(length));
            }
            Change::Copy(from, to, count) => {
                let from = from.index(length);
                let piece = bytes[from..(from + count).min(length)].to_vec();
                let to = to.index(length);
                bytes.splice(to..to, piece);
            }
            Change::Cut(at) => bytes.truncate(at.index(length)),
        }
    }
    bytes
}

fn check(bytes: Vec<u8>) -> Result<(), TestCaseError> {
    for detail in [Detail::Everything, Detail::Figures] {
        let found = read(std::io::Cursor::new(bytes.clone()), detail);
        // A record has at least a length, a type and the mark of its end.
        prop_assert!(found.results.len() <= bytes.len() / 3 + 1);
        if let Some(error) = found.error {
            prop_assert!(error.to_string().contains("the file"), "{}", error);
            prop_assert!(error.to_string().len() < 500, "{}", error);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn mutated_files_never_panic(
        file in any::<Index>(),
        // Most of a file is like the rest of it: its head is where the meaning is.
        length in prop_oneof![200..2000_usize, Just(usize::MAX)],
        changes in vec(change(), 0..6),
    ) {
        let file = FILES[file.index(FILES.len())];
        check(apply(file[..length.min(file.len())].to_vec(), &changes))?;
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        start in prop_oneof![Just(0), 0..300_usize],
        file in any::<Index>(),
        pieces in vec(
            prop_oneof![
                prop::sample::select(&PIECES[..]).prop_map(<[u8]>::to_vec),
                vec(any::<u8>(), 0..12),
            ],
            0..40,
        ),
    ) {
        let file = FILES[file.index(FILES.len())];
        check([&file[..start], &pieces.concat()].concat())?;
    }
}
