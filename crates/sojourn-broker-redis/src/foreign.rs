//! What the connector understands of foreign bytes, without a socket: for fuzzing and property
//! tests only, no part of the interface.

use crate::entry::Entry;
use crate::resp::{Cursor, Malformed, Scanner, Token};

/// All that came of some bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Every whole answer, its values in words.
    pub answers: Vec<String>,
    /// Bytes of whole answers.
    pub answer_bytes: usize,
    /// Bytes of the texts in them.
    pub text_bytes: usize,
    /// JSON objects made of those answers that are entries of a stream.
    pub objects: Vec<Vec<u8>>,
    /// Why reading ended, if it did.
    pub error: Option<&'static str>,
}

/// Reads what a server answers, in portions of this length; an answer has at most so many bytes.
pub fn read_answers(bytes: &[u8], portion: usize, bytes_max: usize) -> Reading {
    let mut reading = Reading::default();
    let mut scanner = Scanner::new(bytes_max);
    let mut come = 0;
    for portion in bytes.chunks(portion.max(1)) {
        come += portion.len();
        loop {
            let rest = &bytes[reading.answer_bytes..come];
            match scanner.end(rest) {
                Ok(None) => break,
                Ok(Some(end)) => {
                    if let Err(Malformed(why)) = walk(&rest[..end], &mut reading) {
                        reading.error = Some(why);
                        return reading;
                    }
                    reading.answer_bytes += end;
                    scanner = Scanner::new(bytes_max);
                }
                Err(Malformed(why)) => {
                    reading.error = Some(why);
                    return reading;
                }
            }
        }
    }
    reading
}

/// Walks over a whole answer, which must be possible in every way.
fn walk(answer: &[u8], reading: &mut Reading) -> Result<(), Malformed> {
    let mut skipping = Cursor::new(answer);
    skipping.skip()?;
    assert!(skipping.is_at_end(), "an answer is passed over as a whole");
    let mut counting = Cursor::new(answer);
    while !counting.is_at_end() {
        counting.number()?;
    }
    let (mut cursor, mut words) = (Cursor::new(answer), Vec::new());
    while !cursor.is_at_end() {
        let token = cursor.token()?;
        if let Token::Bulk(text) | Token::Simple(text) | Token::Error(text) = token {
            reading.text_bytes += text.len();
        }
        words.push(format!("{token:?}"));
    }
    reading.answers.push(words.join(" "));
    for field in [None, Some("payload")] {
        if let Ok(Some(entry)) = Entry::read(&mut Cursor::new(answer), field) {
            let mut object = Vec::new();
            entry.write_object(&mut object);
            reading.objects.push(object);
            // Positions are made of ids, and ids of what the server says.
            let _position = entry.message("stream", 0, 0, None).position;
        }
    }
    Ok(())
}
