//! Lines that clients write to the user's log by `session.log`.

/// Most bytes of a line; what is longer is cut, with a word.
const LINE_BYTES_MAX: usize = 4_096;

/// A line of the user's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Since the run's start, nanoseconds.
    pub at_ns: u64,
    /// Index of the client's session.
    pub session: usize,
    /// The client's number among all clients, see [`client_name`].
    pub client: u64,
    /// What it says: one line, of bounded length.
    pub text: String,
}

impl LogLine {
    /// A line that says this.
    pub fn new(at_ns: u64, session: usize, client: u64, text: &str) -> Self {
        let mut end = text.len().min(LINE_BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut line = one_line(&text[..end]);
        if end < text.len() {
            line.push_str(&format!(" … cut: {end} of {} bytes", text.len()));
        }
        Self { at_ns, session, client, text: line }
    }

    /// As it is written, without an end of line: time since the start, session, client, text.
    pub fn written(&self, session: &str) -> String {
        let at_s = self.at_ns as f64 / 1e9;
        format!("{at_s:>10.3} s  {session} {}  {}", client_name(self.client), self.text)
    }
}

/// How a client is called: the number of its arrival phase and its own in it, both from 1, as in
/// `2.17`. In a validation the sessions stand for the phases.
pub fn client_name(number: u64) -> String {
    format!("{}.{}", (number >> 48) + 1, (number & ((1 << 48) - 1)) + 1)
}

/// Text in which nothing ends a line or steers a terminal.
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() && letter != '\t' {
            out.extend(letter.escape_default());
        } else {
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_and_not_long() {
        let line = LogLine::new(1_234_567_890, 0, 1 << 48 | 16, "a\n\u{1b}[31mä\tb");
        assert_eq!(line.written("watch"), "     1.235 s  watch 2.17  a\\n\\u{1b}[31mä\tb");
        let long = LogLine::new(0, 0, 0, &"ä".repeat(LINE_BYTES_MAX)).text;
        assert!(long.ends_with("ä … cut: 4096 of 8192 bytes"), "{long}");
        let odd = LogLine::new(0, 0, 0, &format!("x{}", "ä".repeat(LINE_BYTES_MAX))).text;
        assert!(odd.ends_with("ä … cut: 4095 of 8193 bytes"), "{odd}");
    }
}
