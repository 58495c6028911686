//! Reading a stretch of streams again, on a connection of its own: the tap stays where it is.

use sojourn_broker::{PositionRange, Sink, Span};
use sojourn_clock::now_ns;

use crate::connection::Connection;
use crate::entry::Entry;
use crate::failure::{Failure, accepted};
use crate::id::Id;
use crate::info::Info;
use crate::resp::{Cursor, Token};
use crate::streams::{Stream, Streams};

/// Entries asked for at first; fewer where they are large.
const COUNT_MAX: usize = 1_000;
/// Bytes that an answer should have at most.
const ANSWER_BYTES: usize = 1 << 20;

/// A part of a stream: from the first id up to, not including, the second.
#[derive(Clone, Copy, Debug)]
struct Part {
    stream: usize,
    from: Id,
    to: Id,
}

/// [`sojourn_broker::Tap::replay`] of streams, open or not.
pub(crate) fn replay(
    streams: &Streams,
    span: &Span,
    deadline_ns: u64,
    sink: &mut dyn Sink,
) -> Result<u64, Failure> {
    let parts = match span {
        Span::Positions(ranges) => of_positions(streams, ranges)?,
        Span::Time { from_unix_ms, to_unix_ms } => {
            let from = Id { ms: *from_unix_ms, sequence: 0 };
            let to = Id { ms: *to_unix_ms, sequence: 0 };
            (0..streams.streams.len()).map(|stream| Part { stream, from, to }).collect()
        }
    };
    let mut connection = Connection::open(&streams.target, deadline_ns)?;
    let mut handed_over = 0;
    for part in parts.iter().filter(|part| part.from < part.to) {
        let stream = &streams.streams[part.stream];
        let before = Info::ask(&streams.target, &mut connection, &stream.name, deadline_ns)?;
        check_whole(streams, stream, *part, before)?;
        handed_over += read(streams, *part, &mut connection, deadline_ns, sink)?;
        // What was deleted meanwhile may have been deleted before it was read.
        let after = Info::ask(&streams.target, &mut connection, &stream.name, deadline_ns)?;
        check_whole(streams, stream, *part, after)?;
    }
    Ok(handed_over)
}

fn of_positions(streams: &Streams, ranges: &[PositionRange]) -> Result<Vec<Part>, Failure> {
    let part = |range: &PositionRange| {
        let index = usize::try_from(range.partition).ok();
        let index = index.filter(|index| *index < streams.streams.len());
        let Some(stream) = index else {
            let what = format!("there is no partition {}", range.partition);
            return Err(Failure::Fatal(streams.target.error(what)));
        };
        Ok(Part { stream, from: Id::of_offset(range.from), to: Id::of_offset(range.to) })
    };
    ranges.iter().map(part).collect()
}

/// Errs unless it is known that nothing of the part has been deleted.
fn check_whole(streams: &Streams, stream: &Stream, part: Part, info: Info) -> Result<(), Failure> {
    let Some(added) = info.added else {
        let what = "a server older than Redis 7 does not tell whether entries were deleted";
        return Err(Failure::Fatal(streams.target.error(what)));
    };
    let one_by_one = info.deleted.is_some_and(|deleted| deleted >= part.from);
    // Trimming takes the oldest first: while an older one is there, the part has lost none.
    let trimmed = info.first.is_none_or(|first| first >= part.from) && {
        let counted = match stream.opened {
            // All that there is came after the tap was opened, whose count says how much that was.
            Some(Info { last, added: Some(before), .. }) if part.from > last => {
                added - before.min(added)
            }
            _ => added,
        };
        counted > info.length
    };
    if !one_by_one && !trimmed {
        return Ok(());
    }
    let what = format!("entries of stream `{}` may have been deleted from this span", stream.name);
    Err(Failure::Fatal(
        streams.target.error(what).with_hint("keep more (MAXLEN) until a run is over"),
    ))
}

/// Reads a part; returns how many entries it had.
fn read(
    streams: &Streams,
    part: Part,
    connection: &mut Connection,
    deadline_ns: u64,
    sink: &mut dyn Sink,
) -> Result<u64, Failure> {
    let stream = &streams.streams[part.stream];
    let mut object = Vec::new();
    let mut handed_over = 0;
    let mut count = 64;
    let mut from = part.from.to_string();
    let to = format!("({}", part.to);
    loop {
        if now_ns() >= deadline_ns {
            let what = format!("stream `{}` was not read again in time", stream.name);
            let error = streams.target.error(what);
            let hint = "read a shorter span, or give it longer";
            return Err(Failure::Fatal(error.with_hint(hint)));
        }
        let (name, asked) = (stream.name.as_bytes(), count.to_string());
        let words = [b"XRANGE", name, from.as_bytes(), to.as_bytes(), b"COUNT", asked.as_bytes()];
        connection.queue(&words);
        let answer_length;
        let entries = {
            let answer = connection.answer(deadline_ns)?;
            answer_length = answer.len();
            let mut cursor = Cursor::new(answer);
            let entries = match accepted(&streams.target, cursor.token()?)? {
                Token::Array(entries) => entries,
                _ => 0,
            };
            let stamp_ns = now_ns();
            for _ in 0..entries {
                let field = streams.field.as_deref();
                let Some(entry) = Entry::read(&mut cursor, field)? else { continue };
                from = format!("({}", entry.id);
                let object = field.is_none().then_some(&mut object);
                sink.message(&entry.message(&stream.name, part.stream, stamp_ns, object));
                handed_over += 1;
            }
            entries
        };
        if entries < count {
            return Ok(handed_over);
        }
        count = match answer_length > ANSWER_BYTES {
            true => (count / 2).max(1),
            false => (count * 2).min(COUNT_MAX),
        };
    }
}
