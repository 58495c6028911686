//! The open streams of a connection.

use hashbrown::HashTable;

/// One open stream.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) id: u32,
    /// The client's number of what it carries.
    pub(super) exchange: u32,
    /// How much of the body may be sent; below zero after the peer has lowered its windows.
    pub(super) send_window: i64,
    /// How much more the peer may send.
    pub(super) receive_left: u32,
    /// What the content-length leaves to come.
    pub(super) body_left: Option<u64>,
    /// The final head has come.
    pub(super) has_head: bool,
    /// The answer has no body whatever its head says.
    pub(super) head_only: bool,
    pub(super) keep_head: bool,
    /// The request is wholly handed over.
    pub(super) is_sent: bool,
    /// It stands in the queue of those that have something to send.
    pub(super) is_queued: bool,
}

impl Stream {
    /// Holds a portion of the body against what the head has said; the fragment of the error reads
    /// after "answered with ".
    pub(super) fn take_body(&mut self, length: u64, ends: bool) -> Result<(), &'static str> {
        let Some(left) = &mut self.body_left else {
            return Ok(());
        };
        *left = left.checked_sub(length).ok_or("a body longer than its head allows")?;
        if ends && *left > 0 {
            return Err("a body shorter than its content-length");
        }
        Ok(())
    }
}

/// Streams by their number.
#[derive(Debug, Default)]
pub(super) struct Streams {
    table: HashTable<Stream>,
}

impl Streams {
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    pub(super) fn insert(&mut self, stream: Stream) {
        self.table.insert_unique(hash(stream.id), stream, |stream| hash(stream.id));
    }

    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut Stream> {
        self.table.find_mut(hash(id), |stream| stream.id == id)
    }

    pub(super) fn remove(&mut self, id: u32) -> Option<Stream> {
        let entry = self.table.find_entry(hash(id), |stream| stream.id == id).ok()?;
        Some(entry.remove().0)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stream> {
        self.table.iter_mut()
    }

    /// Takes out every stream above a number.
    pub(super) fn remove_above(&mut self, id: u32) -> impl Iterator<Item = Stream> {
        self.table.extract_if(move |stream| stream.id > id)
    }
}

/// Numbers follow each other, so any odd factor spreads them.
fn hash(id: u32) -> u64 {
    u64::from(id).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
