//! The protocol: against trees made up at random, cut anywhere, bent anywhere.

use proptest::prelude::*;

use super::*;

const BYTES_MAX: usize = 1 << 20;

#[derive(Clone, Debug)]
enum Tree {
    Bulk(Vec<u8>),
    Simple(String),
    Error(String),
    Integer(i64),
    Nil,
    NilArray,
    Array(Vec<Self>),
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Tree::Bulk),
        "[a-z ]{0,10}".prop_map(Tree::Simple),
        "[A-Z ]{0,10}".prop_map(Tree::Error),
        (-i64::MAX..i64::MAX).prop_map(Tree::Integer),
        Just(Tree::Nil),
        Just(Tree::NilArray),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| prop::collection::vec(inner, 0..6).prop_map(Tree::Array))
}

/// Written plainly, by the protocol's own text.
fn write(tree: &Tree, bytes: &mut Vec<u8>) {
    match tree {
        Tree::Bulk(bulk) => {
            bytes.extend(format!("${}\r\n", bulk.len()).bytes());
            bytes.extend(bulk);
            bytes.extend(b"\r\n");
        }
        Tree::Simple(text) => bytes.extend(format!("+{text}\r\n").bytes()),
        Tree::Error(text) => bytes.extend(format!("-{text}\r\n").bytes()),
        Tree::Integer(number) => bytes.extend(format!(":{number}\r\n").bytes()),
        Tree::Nil => bytes.extend(b"$-1\r\n"),
        Tree::NilArray => bytes.extend(b"*-1\r\n"),
        Tree::Array(values) => {
            bytes.extend(format!("*{}\r\n", values.len()).bytes());
            values.iter().for_each(|value| write(value, bytes));
        }
    }
}

fn same(tree: &Tree, cursor: &mut Cursor<'_>) {
    match (tree, cursor.token().unwrap()) {
        (Tree::Bulk(bulk), Token::Bulk(read)) => assert_eq!(bulk, read),
        (Tree::Simple(text), Token::Simple(read)) | (Tree::Error(text), Token::Error(read)) => {
            assert_eq!(text.as_bytes(), read);
        }
        (Tree::Integer(number), Token::Integer(read)) => assert_eq!(*number, read),
        (Tree::Nil | Tree::NilArray, Token::Nil) => {}
        (Tree::Array(values), Token::Array(read)) => {
            assert_eq!(values.len(), read);
            values.iter().for_each(|value| same(value, cursor));
        }
        (tree, token) => panic!("{tree:?} was read as {token:?}"),
    }
}

proptest! {
    #[test]
    fn what_was_written_is_read(tree in tree()) {
        let mut bytes = Vec::new();
        write(&tree, &mut bytes);
        let mut cursor = Cursor::new(&bytes);
        same(&tree, &mut cursor);
        prop_assert!(cursor.is_at_end());
        let mut cursor = Cursor::new(&bytes);
        cursor.skip().unwrap();
        prop_assert!(cursor.is_at_end());
    }

    #[test]
    fn the_end_is_found_whatever_the_pieces(tree in tree(), step in 1_usize..7) {
        let mut bytes = Vec::new();
        write(&tree, &mut bytes);
        let whole = bytes.len();
        // What follows belongs to the next answer.
        bytes.extend(b"+next\r\n");
        let mut scanner = Scanner::new(BYTES_MAX);
        for length in (0..whole).step_by(step) {
            prop_assert_eq!(scanner.end(&bytes[..length]), Ok(None));
        }
        prop_assert_eq!(scanner.end(&bytes), Ok(Some(whole)));
    }

    #[test]
    fn bent_answers_are_read_alike_or_refused(tree in tree(), at: usize, to: u8) {
        let mut bytes = Vec::new();
        write(&tree, &mut bytes);
        let at = at % bytes.len();
        bytes[at] = to;
        if let Ok(Some(end)) = Scanner::new(BYTES_MAX).end(&bytes) {
            // Whatever ends is an answer that can be walked over, to the same end.
            let mut cursor = Cursor::new(&bytes[..end]);
            cursor.skip().unwrap();
            prop_assert!(cursor.is_at_end());
        }
    }

    #[test]
    fn any_bytes_end_are_missing_or_refused(bytes: Vec<u8>) {
        if let Ok(Some(end)) = Scanner::new(BYTES_MAX).end(&bytes) {
            prop_assert!(end <= bytes.len());
            Cursor::new(&bytes[..end]).skip().unwrap();
        }
        let mut cursor = Cursor::new(&bytes);
        while cursor.number().is_ok() {}
    }
}

#[test]
fn absurd_lengths_are_refused_before_anything_is_kept_for_them() {
    for bytes in [
        "$9223372036854775807\r\n",
        "*9223372036854775807\r\n",
        "$1048577\r\n",
        "*262145\r\n",
        "$-2\r\n",
        "$99999999999999999999\r\n",
        "*1\r\n*1\r\n$x\r\n",
        ":1x\r\n",
        "$1\r\nabc",
        "HTTP/1.1 400 Bad Request\r\n",
    ] {
        let end = Scanner::new(BYTES_MAX).end(bytes.as_bytes());
        assert!(end.is_err(), "{bytes}: {end:?}");
    }
    let line = [b"+".as_slice(), &[b'a'; LINE_BYTES_MAX]].concat();
    assert!(Scanner::new(BYTES_MAX).end(&line).is_err());
}

#[test]
fn commands_are_arrays_of_texts() {
    let mut bytes = Vec::new();
    write_command(&mut bytes, &[b"XADD", b"s", b"", b"a\r\nb"]);
    assert_eq!(bytes, b"*4\r\n$4\r\nXADD\r\n$1\r\ns\r\n$0\r\n\r\n$4\r\na\r\nb\r\n");
}
