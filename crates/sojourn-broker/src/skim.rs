//! Walks through JSON text once, value by value: whatever is passed is checked.
//!
//! Made for messages that are mostly passed over, of which `serde_json`'s visitors took twice the
//! time. What is not plain (escapes, numbers beyond 18 digits, fractions) is given to `serde_json`,
//! and so is said to be right by what would read the whole.

use std::borrow::Cow;

use serde_json::Value;

/// What `serde_json` begins names with that it gives a meaning of its own.
const PRIVATE: &str = "$serde_json";
/// Most objects and lists within each other: what `serde_json` reads.
const DEPTH_MAX: u8 = 127;
/// A whole number of so many digits is in range, whatever they are.
const DIGITS_MAX: usize = 18;

/// A place in a text. Each step is `None` where the text goes on in a way that is no JSON, or that
/// `serde_json` would not read.
#[derive(Debug)]
pub(crate) struct Skim<'m> {
    text: &'m str,
    at: usize,
    depth: u8,
}

impl<'m> Skim<'m> {
    /// Before the text's first value.
    pub(crate) fn new(text: &'m str) -> Self {
        Self { text, at: 0, depth: 0 }
    }

    /// The byte that is next after white space; it stays.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u8> {
        loop {
            let byte = self.peek()?;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Nothing may follow but white space.
    pub(crate) fn end(&mut self) -> Option<()> {
        self.next().is_none().then_some(())
    }

    /// Passes a value.
    pub(crate) fn value(&mut self) -> Option<()> {
        match self.next()? {
            b'"' => self.string().map(drop),
            b'{' => self.fields(|skim, _| skim.value()),
            b'[' => self.items(),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.number(),
        }
    }

    /// Reads a value whole.
    pub(crate) fn read(&mut self) -> Option<Value> {
        self.next()?;
        let begun = self.at;
        self.value()?;
        serde_json::from_str(self.text.get(begun..self.at)?).ok()
    }

    /// Reads a string, whose quotation mark is next.
    #[inline]
    pub(crate) fn string(&mut self) -> Option<Cow<'m, str>> {
        let begun = self.at + 1;
        let end = self.special(begun)?;
        match self.text.as_bytes()[end] {
            b'"' => {
                self.at = end + 1;
                self.text.get(begun..end).map(Cow::Borrowed)
            }
            b'\\' => self.escaped(end),
            _ => None,
        }
    }

    /// Passes the fields of an object, whose brace is next: each value is passed by `pass`, which
    /// is given its name.
    #[inline]
    pub(crate) fn fields(
        &mut self,
        mut pass: impl FnMut(&mut Self, &str) -> Option<()>,
    ) -> Option<()> {
        self.enter()?;
        if self.next()? == b'}' {
            return self.leave();
        }
        loop {
            if self.next()? != b'"' {
                return None;
            }
            let name = self.string()?;
            if name.starts_with(PRIVATE) || self.next()? != b':' {
                return None;
            }
            self.at += 1;
            pass(self, &name)?;
            match self.next()? {
                b',' => self.at += 1,
                b'}' => return self.leave(),
                _ => return None,
            }
        }
    }

    fn items(&mut self) -> Option<()> {
        self.enter()?;
        if self.next()? == b']' {
            return self.leave();
        }
        loop {
            self.value()?;
            match self.next()? {
                b',' => self.at += 1,
                b']' => return self.leave(),
                _ => return None,
            }
        }
    }

    fn enter(&mut self) -> Option<()> {
        self.at += 1;
        self.depth += 1;
        (self.depth <= DEPTH_MAX).then_some(())
    }

    fn leave(&mut self) -> Option<()> {
        self.at += 1;
        self.depth -= 1;
        Some(())
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Where the first byte is that no string has as it stands.
    #[inline]
    fn special(&self, begun: usize) -> Option<usize> {
        let mut rest = self.text.as_bytes().get(begun..)?;
        let mut at = begun;
        while let Some((eight, behind)) = rest.split_first_chunk() {
            let found = specials(u64::from_le_bytes(*eight));
            if found != 0 {
                return Some(at + found.trailing_zeros() as usize / 8);
            }
            (rest, at) = (behind, at + eight.len());
        }
        rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).map(|it| at + it)
    }

    /// Reads a string that has an escape there, for the first time.
    #[cold]
    fn escaped(&mut self, mut at: usize) -> Option<Cow<'m, str>> {
        let bytes = self.text.as_bytes();
        while bytes.get(at)? == &b'\\' {
            at = self.special(at + 2)?;
        }
        let begun = std::mem::replace(&mut self.at, at + 1);
        serde_json::from_str(self.text.get(begun..=at)?).ok().map(Cow::Owned)
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let is_it = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        is_it.then_some(())
    }

    fn number(&mut self) -> Option<()> {
        let begun = self.at;
        let sign = usize::from(self.peek()? == b'-');
        self.at += sign;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        let is_whole = !matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        let is_plain = match &self.text.as_bytes()[begun + sign..self.at] {
            [_] => true,
            [first, rest @ ..] => *first != b'0' && rest.len() < DIGITS_MAX,
            [] => false,
        };
        if is_whole && is_plain {
            return Some(());
        }
        while matches!(self.peek(), Some(b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) {
            self.at += 1;
        }
        let number: Value = serde_json::from_str(self.text.get(begun..self.at)?).ok()?;
        number.is_number().then_some(())
    }
}

/// Of eight bytes, those that no string has as they stand: the highest bit of the first of them is
/// the lowest that is set, others may be wrong. Below a byte that is taken from, none borrows.
#[inline]
fn specials(eight: u64) -> u64 {
    const EACH: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHEST: u64 = EACH << 7;
    let below = |bytes: u64, bound: u8| bytes.wrapping_sub(EACH * u64::from(bound)) & !bytes;
    let is = |byte: u8| below(eight ^ (EACH * u64::from(byte)), 1);
    (below(eight, 0x20) | is(b'"') | is(b'\\')) & HIGHEST
}
