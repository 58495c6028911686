//! Reading streams from their ends by XREAD, without a group.
//!
//! A server keeps a blocked XREAD and answers it when an entry comes, so there is always one on its
//! way. Between two of them entries may be trimmed or deleted before they were read. That shows in
//! the stream's own count of entries ever added: it must be the count at opening and all that was
//! read since. The count is asked for each second, and after each reconnect.

use std::collections::VecDeque;

use sojourn_broker::{Gap, Recovery, Sink};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};

use crate::config::Target;
use crate::connection::Connection;
use crate::entry::Entry;
use crate::failure::{Failure, accepted};
use crate::id::Id;
use crate::info::Info;
use crate::resp::{Cursor, Token};
use crate::tap::{SILENCE_NS_MAX, Source};

/// How long the server keeps a request that finds nothing. Its answer is the connection's pulse.
const BLOCK_MS: u64 = 500;
/// How often the counts are looked at.
const CHECK_NS: u64 = SECOND_NS;
/// Most entries of a stream asked for at once.
const COUNT_MAX: usize = 1_024;
/// Bytes that an answer should have at most.
const ANSWER_BYTES: usize = 1 << 20;

/// Streams, read from their ends.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) target: Target,
    pub(crate) field: Option<String>,
    /// Without repetitions, in declared order: the index is the partition.
    pub(crate) streams: Vec<Stream>,
    /// What the server has been asked and has not answered.
    asked: VecDeque<Asked>,
    asked_ns: u64,
    checked_ns: u64,
    count: usize,
    /// The latest answer had as many entries of a stream as were asked for.
    full: bool,
    /// A payload made of fields.
    object: Vec<u8>,
    resuming: Option<Resuming>,
    gaps: Vec<Gap>,
}

/// A stream, and how far it has been read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    pub(crate) name: String,
    /// What the server said when the tap was opened.
    pub(crate) opened: Option<Info>,
    position: Id,
    /// Entries added up to `position`, by the server's count at opening and ours since.
    read: Option<u64>,
    /// The server's count, to be compared when its last entry has been read.
    check: Option<Check>,
}

#[derive(Clone, Copy, Debug)]
struct Check {
    last: Id,
    added: Option<u64>,
    at_ns: u64,
}

#[derive(Clone, Copy, Debug)]
enum Asked {
    Info(usize),
    Read,
}

/// Catching up after a connection was lost.
#[derive(Clone, Copy, Debug)]
struct Resuming {
    from_ns: u64,
    to_ns: u64,
    messages: u64,
    missed: bool,
}

impl Streams {
    pub(crate) fn new(target: Target, names: &[String], field: Option<String>) -> Self {
        let mut streams: Vec<Stream> = Vec::new();
        for name in names {
            if !streams.iter().any(|stream| stream.name == *name) {
                streams.push(Stream { name: name.clone(), ..Stream::default() });
            }
        }
        Self {
            target,
            field,
            streams,
            asked: VecDeque::new(),
            asked_ns: 0,
            checked_ns: 0,
            count: 64,
            full: false,
            object: Vec::new(),
            resuming: None,
            gaps: Vec::new(),
        }
    }

    fn ask(&mut self, connection: &mut Connection, now_ns: u64) {
        if now_ns.saturating_sub(self.checked_ns) >= CHECK_NS {
            self.checked_ns = now_ns;
            for (index, stream) in self.streams.iter().enumerate() {
                connection.queue(&[b"XINFO", b"STREAM", stream.name.as_bytes()]);
                self.asked.push_back(Asked::Info(index));
            }
        }
        let mut read: Vec<Vec<u8>> = ["XREAD", "COUNT"].map(|word| word.into()).into();
        read.push(self.count.to_string().into());
        read.push("BLOCK".into());
        read.push(BLOCK_MS.to_string().into());
        read.push("STREAMS".into());
        read.extend(self.streams.iter().map(|stream| stream.name.as_bytes().to_vec()));
        read.extend(self.streams.iter().map(|stream| stream.position.to_string().into_bytes()));
        connection.queue_all(&read);
        self.asked.push_back(Asked::Read);
        self.asked_ns = now_ns;
    }

    /// Takes the server's count in.
    fn take_info(&mut self, index: usize, info: Option<Info>) -> Result<(), Failure> {
        // A stream that is gone has nothing added.
        let info = info.unwrap_or_else(|| Info { added: Some(0), ..Info::default() });
        let Some(stream) = self.streams.get_mut(index) else { return Ok(()) };
        stream.check = Some(Check { last: info.last, added: info.added, at_ns: now_ns() });
        if stream.position >= info.last { self.conclude(index) } else { Ok(()) }
    }

    /// All that was there when the server counted has been read, or is gone.
    fn conclude(&mut self, index: usize) -> Result<(), Failure> {
        let Some(stream) = self.streams.get_mut(index) else { return Ok(()) };
        let Some(check) = stream.check.take() else { return Ok(()) };
        let (read, added) = (stream.read, check.added);
        let whole = read == added && added.is_some();
        if let Some(resuming) = &mut self.resuming {
            if !whole {
                resuming.missed = true;
                stream.read = added;
                // Of a server that came back with an older state: what follows is new.
                stream.position = stream.position.min(check.last);
            }
            return Ok(());
        }
        let name = &stream.name;
        let (what, hint) = match (read, added) {
            (Some(read), Some(added)) if read < added => (
                format!(
                    "{} entries of stream `{name}` were deleted before the tap could read them",
                    added - read
                ),
                "keep more (MAXLEN) while a run lasts, or let consumers delete later (XDEL)",
            ),
            (Some(read), Some(added)) if read > added => (
                format!("stream `{name}` was deleted, or fell back to an older state"),
                "what was in it and not read yet is not known, so the run is void",
            ),
            _ => return Ok(()),
        };
        Err(Failure::Fatal(self.target.error(what).with_hint(hint)))
    }

    /// Takes the answer to an XREAD; returns how many entries it handed over.
    fn take_read(
        &mut self,
        answer: &[u8],
        stamp_ns: u64,
        sink: &mut dyn Sink,
    ) -> Result<usize, Failure> {
        let mut cursor = Cursor::new(answer);
        let listed = match accepted(&self.target, cursor.token()?)? {
            Token::Array(listed) => listed,
            _ => 0,
        };
        let mut handed_over = 0;
        let mut count_max = 0;
        for _ in 0..listed {
            cursor.array()?;
            let name = cursor.text()?;
            let mut ahead = self.streams.iter();
            let Some(index) = ahead.position(|stream| stream.name.as_bytes() == name) else {
                cursor.skip()?;
                continue;
            };
            let entries = cursor.array()?;
            count_max = count_max.max(entries);
            for _ in 0..entries {
                if let Some(entry) = Entry::read(&mut cursor, self.field.as_deref())? {
                    self.hand_over(index, stamp_ns, entry, sink)?;
                    handed_over += 1;
                }
            }
        }
        self.full = count_max >= self.count;
        if answer.len() > ANSWER_BYTES {
            self.count = (self.count / 2).max(1);
        } else if self.full && answer.len() < ANSWER_BYTES / 2 {
            self.count = (self.count * 2).min(COUNT_MAX);
        }
        if !self.full {
            // Whatever the server counted before it answered this has been read, or is gone.
            for index in 0..self.streams.len() {
                self.conclude(index)?;
            }
        }
        Ok(handed_over)
    }

    fn hand_over(
        &mut self,
        index: usize,
        stamp_ns: u64,
        entry: Entry<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), Failure> {
        let id = entry.id;
        if self.streams[index].check.is_some_and(|check| id > check.last) {
            self.conclude(index)?;
        }
        let stream = &mut self.streams[index];
        let object = self.field.is_none().then_some(&mut self.object);
        sink.message(&entry.message(&stream.name, index, stamp_ns, object));
        stream.position = id;
        stream.read = stream.read.map(|read| read + 1);
        let Some(check) = stream.check else { return Ok(()) };
        if let Some(resuming) = &mut self.resuming {
            resuming.messages += 1;
        }
        if id >= check.last { self.conclude(index) } else { Ok(()) }
    }

    /// A gap is over when every stream has been read up to where it was at the reconnect.
    fn end_gap(&mut self) {
        let waits = self.asked.iter().any(|asked| matches!(asked, Asked::Info(_)))
            || self.streams.iter().any(|stream| stream.check.is_some());
        if waits {
            return;
        }
        if let Some(Resuming { from_ns, to_ns, messages, missed }) = self.resuming.take() {
            let recovery = if missed { Recovery::Missed } else { Recovery::Resumed { messages } };
            self.gaps.push(Gap { from_ns, to_ns, recovery });
        }
    }
}

impl Source for Streams {
    fn begin(&mut self, connection: &mut Connection, deadline_ns: u64) -> Result<(), Failure> {
        if self.streams.is_empty() {
            return Err(Failure::Fatal(self.target.error("no streams named")));
        }
        for stream in &mut self.streams {
            let info = Info::ask(&self.target, connection, &stream.name, deadline_ns)?;
            (stream.position, stream.read) = (info.last, info.added);
            stream.opened = Some(info);
        }
        self.checked_ns = now_ns();
        Ok(())
    }

    fn begin_again(
        &mut self,
        connection: &mut Connection,
        lost_ns: u64,
        _deadline_ns: u64,
    ) -> Result<(), Failure> {
        let now_ns = now_ns();
        let resuming = self.resuming.get_or_insert(Resuming {
            from_ns: lost_ns,
            to_ns: now_ns,
            messages: 0,
            missed: false,
        });
        resuming.to_ns = now_ns;
        // What the lost connection owed us is asked for again.
        self.asked.clear();
        self.checked_ns = 0;
        for stream in &mut self.streams {
            stream.check = None;
        }
        self.ask(connection, now_ns);
        Ok(())
    }

    fn take(
        &mut self,
        connection: &mut Connection,
        sink: &mut dyn Sink,
    ) -> Result<Option<usize>, Failure> {
        let stamp_ns = connection.received_ns();
        let Some(answer) = connection.next_answer()? else { return Ok(None) };
        let handed_over = match self.asked.pop_front() {
            Some(Asked::Info(index)) => {
                let info = Info::read(&self.target, answer)?;
                self.take_info(index, info)?;
                0
            }
            Some(Asked::Read) => self.take_read(answer, stamp_ns, sink)?,
            None => return Err(Failure::Lost("an answer to no question".to_owned())),
        };
        self.end_gap();
        Ok(Some(handed_over))
    }

    fn tend(&mut self, connection: &mut Connection, now_ns: u64) -> Result<(), Failure> {
        if self.asked.is_empty() {
            self.ask(connection, now_ns);
            return Ok(());
        }
        let heard_ns = self.asked_ns.max(connection.received_ns());
        if now_ns.saturating_sub(heard_ns) > SILENCE_NS_MAX {
            return Err(Failure::Lost("the server answers nothing".to_owned()));
        }
        Ok(())
    }

    fn is_caught_up(&self) -> bool {
        !self.full && self.resuming.is_none()
    }

    fn behind_ns(&self, now_ns: u64) -> u64 {
        let silent_ns = match self.asked.is_empty() {
            true => 0,
            false => now_ns.saturating_sub(self.asked_ns + BLOCK_MS * MILLISECOND_NS),
        };
        let checks = self.streams.iter().filter_map(|stream| stream.check);
        let unread_ns = checks.map(|check| now_ns.saturating_sub(check.at_ns)).max();
        silent_ns.max(unread_ns.unwrap_or(0))
    }

    fn gaps(&mut self) -> &mut Vec<Gap> {
        &mut self.gaps
    }

    fn listens_to(&self) -> String {
        let names: Vec<_> = self.streams.iter().map(|stream| stream.name.as_str()).collect();
        match names.as_slice() {
            [name] => format!("stream {name} from its end"),
            names => format!("streams {} from their ends", names.join(" ")),
        }
    }

    fn as_streams(&self) -> Option<&Streams> {
        Some(self)
    }
}
