//! What the clients of one thread share: buffers for what goes out, and sequences.

/// See the module's page. Grows to the largest request, then stays.
#[derive(Debug)]
pub struct Memory {
    pub(super) seed: u64,
    thread: u64,
    threads: u64,
    unix_ms: u64,
    /// How many numbers were taken of each generator that is a sequence.
    taken: Vec<u64>,
    pub(super) url: String,
    pub(super) body: String,
    /// The text of a log line; the left side of a comparison.
    pub(super) text: String,
    /// The right side of a comparison.
    pub(super) other: String,
    pub(super) key: String,
    /// Names and values of header fields, one behind the other.
    pub(super) fields: String,
    /// Of each field: its start, its name's end, its end.
    pub(super) spans: Vec<(usize, usize, usize)>,
}

/// Where a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    Url,
    Body,
    Text,
    Other,
    Key,
    Fields,
}

impl Memory {
    /// For clients of thread `thread` of `threads`, all drawing from one seed. Their sequences are
    /// dealt out: each thread has every `threads`-th number.
    pub fn new(seed: u64, thread: u32, threads: u32) -> Self {
        Self {
            seed,
            thread: thread.into(),
            threads: threads.max(1).into(),
            unix_ms: 0,
            taken: Vec::new(),
            url: String::new(),
            body: String::new(),
            text: String::new(),
            other: String::new(),
            key: String::new(),
            fields: String::new(),
            spans: Vec::new(),
        }
    }

    /// Tells the present time, milliseconds since 1970, for generated timestamps.
    pub fn set_unix_ms(&mut self, unix_ms: u64) {
        self.unix_ms = unix_ms;
    }

    pub(super) fn unix_ms(&self) -> u64 {
        self.unix_ms
    }

    /// The next number of a generator's sequence.
    pub(super) fn next(&mut self, generator: u32) -> u64 {
        let generator = generator as usize;
        if self.taken.len() <= generator {
            self.taken.resize(generator + 1, 0);
        }
        let taken = self.taken[generator];
        self.taken[generator] += 1;
        taken.wrapping_mul(self.threads).wrapping_add(self.thread)
    }

    pub(super) fn buffer(&mut self, which: Written) -> &mut String {
        match which {
            Written::Url => &mut self.url,
            Written::Body => &mut self.body,
            Written::Text => &mut self.text,
            Written::Other => &mut self.other,
            Written::Key => &mut self.key,
            Written::Fields => &mut self.fields,
        }
    }
}
