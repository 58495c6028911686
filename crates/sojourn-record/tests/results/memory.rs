//! Lengths that are not true ask for no memory.
#![allow(unsafe_code, reason = "an allocator that counts is an allocator")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use sojourn_record::results::{AttackResult, Detail, Encoding, Headers, ResultReader, Timestamp};

use super::util::{Owned, encode, read};

/// The system's allocator, which remembers for each thread the largest piece and how many.
struct Counting;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn note(size: usize) {
    // A thread that is ending has no more place to note it in.
    let _gone = LARGEST.try_with(|largest| largest.set(largest.get().max(size)));
    let _gone = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call is handed on to the system's allocator as it is; noting a size allocates
// nothing, since the thread-locals are constants without destructors.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `System` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: the pointer came from `System` with this layout.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn absurd_lengths_are_errors_and_ask_for_no_memory() {
    let definitions = encode(&[], Encoding::Gob).len();
    assert_eq!(definitions, 0, "no result, no stream");
    let good = encode(&[Owned { code: 200, ..Owned::default() }], Encoding::Gob);
    let prefix = &good[..0xce];
    let claims: [&[u8]; 9] = [
        // A message of 2^30 - 1 bytes, of 2^63, of 2^64 - 1.
        b"\xfc\x3f\xff\xff\xff\xff\x80\x01\x01a",
        b"\xf8\x7f\xff\xff\xff\xff\xff\xff\xff\xff\x80\x01",
        b"\xf8\xff\xff\xff\xff\xff\xff\xff\xff\xff\x80\x01",
        // A text of 2^64 - 1 bytes within a message.
        b"\x0d\xff\x80\x01\xf8\xff\xff\xff\xff\xff\xff\xff\xffa",
        // 2^32 headers, and a header with as many values.
        b"\x09\xff\x80\x0c\xfb\x01\x00\x00\x00\x00",
        b"\x0c\xff\x80\x0c\x01\x01a\xfb\x01\x00\x00\x00\x00",
        // A field beyond the last, and beyond all numbers.
        b"\x04\xff\x80\x0d\x00",
        b"\x0e\xff\x80\x0c\xf8\xff\xff\xff\xff\xff\xff\xff\xff\x00",
        // A struct of 2^31 fields is defined.
        b"\x0d\xff\x81\x03\x02\xfc\x80\x00\x00\x00\x00\x00\x00\x00",
    ];
    for claim in claims {
        LARGEST.set(0);
        let bytes = [prefix, claim].concat();
        let found = read(std::io::Cursor::new(bytes), Detail::Everything);
        assert!(found.results.is_empty() && found.error.is_some(), "{claim:x?}");
        assert!(LARGEST.get() <= 256 << 10, "{claim:x?} asked for {} bytes", LARGEST.get());
    }
}

#[test]
fn reading_and_writing_allocate_nothing_per_record() {
    let mut headers = Headers::default();
    headers.push(b"Content-Type", b"text/plain");
    let result = Owned {
        attack: b"a".to_vec(),
        code: 200,
        timestamp: Timestamp::utc(1_700_000_000_000_000_000),
        latency_ns: 1_500_000,
        body: Some(vec![7; 100]),
        method: b"GET".to_vec(),
        url: b"http://127.0.0.1/".to_vec(),
        headers: Some(headers),
        ..Owned::default()
    };
    let many = vec![result; 5_000];
    // The JSON parser keeps a stack of its own for every line with objects in it.
    for encoding in [Encoding::Gob, Encoding::Csv] {
        let bytes = encode(&many, encoding);
        for detail in [Detail::Figures, Detail::Everything] {
            let mut reader =
                ResultReader::new("file", Box::new(std::io::Cursor::new(bytes.clone())), detail);
            assert!(reader.advance().unwrap());
            let before = COUNT.get();
            let mut seen = 1;
            while reader.advance().unwrap() {
                seen += u64::from(reader.current().is_success());
            }
            assert_eq!(seen, many.len() as u64);
            let allocations = COUNT.get() - before;
            assert!(allocations < 50, "{encoding:?} {detail:?}: {allocations}");
        }
    }
}

#[test]
fn writing_gob_allocates_nothing_but_the_buffer() {
    let mut headers = Headers::default();
    let mut out = Vec::with_capacity(1 << 20);
    let mut encoder = sojourn_record::results::Encoder::new(Encoding::Gob);
    let before = COUNT.get();
    for seq in 0..2_000 {
        headers.clear();
        headers.push_canonical(b"content-type", b"text/plain");
        let url = b"http://127.0.0.1/";
        let result = AttackResult { seq, url, headers: Some(&headers), ..AttackResult::default() };
        encoder.encode(&result, &mut out);
    }
    assert!(COUNT.get() - before < 10, "{} allocations", COUNT.get() - before);
}
