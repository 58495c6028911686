//! Putting texts together: requests, messages, comparisons, numbers.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;
use url::form_urlencoded;

use super::memory::{Memory, Written};
use super::outgoing::Fault;
use super::{Client, Next, State};
use crate::compare::Comparison;
use crate::extract::json_text;
use crate::generator::Draws;
use crate::program::{Base, Body, Instruction, Piece, Program, TemplateId};
use crate::target::{has_scheme, host_of, is_absolute};
use crate::text::Escape;

/// Most bytes of a text.
const TEXT_BYTES_MAX: usize = 64 << 20;

impl Client {
    pub(super) fn draws(&mut self, seed: u64) -> Draws<'_> {
        Draws { seed, client: self.number, drawn: &mut self.drawn }
    }

    /// Writes a text into an emptied buffer.
    pub(super) fn write(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        template: TemplateId,
        to: Written,
    ) -> Result<(), Fault> {
        memory.buffer(to).clear();
        self.append(program, memory, template, to)
    }

    fn append(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        template: TemplateId,
        to: Written,
    ) -> Result<(), Fault> {
        for piece in &program.templates[template as usize].parts {
            match piece {
                Piece::Literal(text) => memory.buffer(to).push_str(text),
                Piece::Variable { slot, escape } => {
                    escaped(&self.variables[usize::from(*slot)], *escape, memory.buffer(to));
                }
                Piece::Cell { row, table, column, escape } => {
                    let row = self.numbers[usize::from(self.counters + row)] as usize;
                    let cell = program.tables[*table as usize].cell(row, *column as usize);
                    escaped(cell, *escape, memory.buffer(to));
                }
                Piece::Status => {
                    // Writing to a string never fails.
                    write!(memory.buffer(to), "{}", self.status).ok();
                }
                Piece::Generated { generator, escape } => {
                    self.generate(program, memory, *generator, *escape, to);
                }
            }
            if memory.buffer(to).len() > TEXT_BYTES_MAX {
                return Err(Fault::TooLong);
            }
        }
        Ok(())
    }

    fn generate(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        number: u32,
        escape: Escape,
        to: Written,
    ) {
        let generator = program.generators[number as usize];
        let (seed, unix_ms) = (memory.seed, memory.unix_ms());
        let mut value = String::new();
        let mut next = || memory.next(number);
        generator.write(&mut self.draws(seed), unix_ms, &mut next, &mut value);
        escaped(&value, escape, memory.buffer(to));
    }

    pub(super) fn holds(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        left: TemplateId,
        compare: Comparison,
        right: TemplateId,
    ) -> Result<bool, Fault> {
        self.write(program, memory, left, Written::Text)?;
        self.write(program, memory, right, Written::Other)?;
        Ok(compare.holds(&memory.text, &memory.other))
    }

    pub(super) fn set(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        slot: u16,
        value: TemplateId,
    ) -> Result<(), Fault> {
        self.write(program, memory, value, Written::Text)?;
        self.keep(slot, &memory.text)
    }

    /// A number of at least 0.
    fn number(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        template: TemplateId,
    ) -> Result<f64, Fault> {
        self.write(program, memory, template, Written::Text)?;
        let number: f64 = memory.text.trim().parse().map_err(|_| Fault::NotANumber)?;
        if number.is_finite() && number >= 0.0 { Ok(number) } else { Err(Fault::NotANumber) }
    }

    /// A whole number of at most 32 bits.
    pub(super) fn count(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        template: TemplateId,
    ) -> Result<u32, Fault> {
        let number = self.number(program, memory, template)?;
        let is_count = number.fract() == 0.0 && number <= f64::from(u32::MAX);
        // In range just now.
        if is_count { Ok(number as u32) } else { Err(Fault::NotANumber) }
    }

    /// Nanoseconds of a wait.
    pub(super) fn wait(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        instruction: Instruction,
    ) -> Result<u64, Fault> {
        let seed = memory.seed;
        let seconds = match instruction {
            Instruction::Wait(seconds) => self.number(program, memory, seconds)?,
            Instruction::WaitUniform(low, high) => {
                let low = self.number(program, memory, low)?;
                let high = self.number(program, memory, high)?;
                low + (high - low) * self.draws(seed).unit()
            }
            Instruction::WaitExponential(mean) => {
                self.number(program, memory, mean)? * self.draws(seed).exponential()
            }
            _ => 0.0,
        };
        // A conversion of floats saturates.
        Ok((seconds * 1e9) as u64)
    }

    /// Puts a request together; a host that is no target is denied.
    pub(super) fn request(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        number: u32,
    ) -> Result<Next, Fault> {
        let request = &program.requests[number as usize];
        memory.url.clear();
        if let Base::Origin(origin) = &request.base {
            memory.url.push_str(origin);
        }
        self.append(program, memory, request.url, Written::Url)?;
        self.state = State::Asked;
        let is_denied = request.base == Base::Unknown && !grounded(program, &mut memory.url);
        wire_safe(&mut memory.url);
        if is_denied {
            return Ok(Next::Denied(number));
        }
        memory.fields.clear();
        memory.spans.clear();
        for (name, value) in &request.headers {
            self.field(program, memory, name, *value)?;
        }
        if request.is_form {
            fixed_field(memory, "Content-Type", "application/x-www-form-urlencoded");
        }
        if request.is_gzip {
            fixed_field(memory, "Accept-Encoding", "gzip");
        }
        if let Some((name, password)) = request.authentication {
            self.write(program, memory, name, Written::Text)?;
            self.write(program, memory, password, Written::Other)?;
            let value = STANDARD.encode(format!("{}:{}", memory.text, memory.other));
            fixed_field(memory, "Authorization", &format!("Basic {value}"));
        }
        if let Body::Text(text) = request.body {
            self.write(program, memory, text, Written::Body)?;
        }
        Ok(Next::Request(number))
    }

    /// Puts a message together.
    pub(super) fn write_message(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        number: u32,
    ) -> Result<(), Fault> {
        let message = &program.messages[number as usize];
        self.write(program, memory, message.payload, Written::Body)?;
        if let Some(key) = message.key {
            self.write(program, memory, key, Written::Key)?;
        }
        memory.fields.clear();
        memory.spans.clear();
        for (name, value) in &message.headers {
            self.field(program, memory, name, *value)?;
        }
        Ok(())
    }

    /// A header field; control characters become spaces, so that no value can add a line.
    fn field(
        &mut self,
        program: &Program,
        memory: &mut Memory,
        name: &str,
        value: TemplateId,
    ) -> Result<(), Fault> {
        let start = memory.fields.len();
        memory.fields.push_str(name);
        let middle = memory.fields.len();
        self.append(program, memory, value, Written::Fields)?;
        if memory.fields[middle..].contains(|c: char| c.is_ascii_control()) {
            let clean = memory.fields[middle..].replace(|c: char| c.is_ascii_control(), " ");
            memory.fields.replace_range(middle.., &clean);
        }
        memory.spans.push((start, middle, memory.fields.len()));
        Ok(())
    }
}

fn fixed_field(memory: &mut Memory, name: &str, value: &str) {
    let start = memory.fields.len();
    memory.fields.push_str(name);
    let middle = memory.fields.len();
    memory.fields.push_str(value);
    memory.spans.push((start, middle, memory.fields.len()));
}

/// Whether a URL that was put together names a host that may be asked. One that turns out to be
/// relative is set on the only target.
fn grounded(program: &Program, url: &mut String) -> bool {
    if is_absolute(url) {
        return host_of(url).is_some_and(|host| program.targets.allows(host));
    }
    match program.targets.base(url) {
        Ok(origin) if !has_scheme(url) && !url.starts_with("//") => {
            let slash = if url.starts_with('/') { "" } else { "/" };
            url.insert_str(0, &format!("{origin}{slash}"));
            true
        }
        _ => false,
    }
}

/// Leaves the fragment out and encodes what may not stand in a request line.
fn wire_safe(url: &mut String) {
    if let Some(fragment) = url.find('#') {
        url.truncate(fragment);
    }
    if url.bytes().all(|byte| byte.is_ascii_graphic()) {
        return;
    }
    let mut safe = String::with_capacity(url.len() + 16);
    for byte in url.bytes() {
        if byte.is_ascii_graphic() {
            safe.push(char::from(byte));
        } else {
            // Writing to a string never fails.
            write!(safe, "%{byte:02X}").ok();
        }
    }
    *url = safe;
}

/// Appends a value as its place wants it.
fn escaped(value: &str, escape: Escape, out: &mut String) {
    match escape {
        Escape::Raw => out.push_str(value),
        Escape::Form => out.extend(form_urlencoded::byte_serialize(value.as_bytes())),
        Escape::Url => {
            for byte in value.bytes() {
                if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
                    out.push(char::from(byte));
                } else {
                    // Writing to a string never fails.
                    write!(out, "%{byte:02X}").ok();
                }
            }
        }
        Escape::JsonValue if is_json_scalar(value) => out.push_str(value),
        Escape::JsonValue => out.push_str(&serde_json::Value::from(value).to_string()),
        Escape::JsonText => {
            let quoted = serde_json::Value::from(value).to_string();
            out.push_str(&quoted[1..quoted.len() - 1]);
        }
    }
}

/// Whether a text is a number, `true`, `false` or `null` as JSON writes them.
fn is_json_scalar(text: &str) -> bool {
    let is_bare = !text.starts_with(['"', '[', '{', ' ', '\t', '\n', '\r'])
        && !text.ends_with([' ', '\t', '\n', '\r']);
    is_bare && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// The item of a JSON list behind what was read of it (0: none), and how far it is read then.
pub(super) fn next_item(list: &str, read: u32) -> Option<(String, u32)> {
    let rest = list.get(read as usize..)?.trim_start();
    let rest = rest.strip_prefix(if read == 0 { '[' } else { ',' })?;
    let mut items = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
    let item = json_text(items.next()?.ok()?)?;
    let behind = list.len() - rest.len() + items.byte_offset();
    // A variable has at most a megabyte.
    Some((item, behind as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(list: &str) -> Vec<String> {
        let (mut found, mut read) = (Vec::new(), 0);
        while let Some((item, behind)) = next_item(list, read) {
            found.push(item);
            read = behind;
        }
        found
    }

    #[test]
    fn lists_are_read_item_by_item() {
        assert_eq!(items(" [1, \"a,]\" ,{\"b\": [2]}, null] "), ["1", "a,]", "{\"b\": [2]}", ""]);
        assert_eq!(items("[]"), [""; 0]);
        assert_eq!(items("no list"), [""; 0]);
        assert_eq!(items(""), [""; 0]);
        assert_eq!(items("[1 2"), ["1"]);
    }

    #[test]
    fn values_are_escaped_for_their_place() {
        let shown = |value: &str, escape| {
            let mut out = String::new();
            escaped(value, escape, &mut out);
            out
        };
        assert_eq!(shown("a b&%é", Escape::Raw), "a b&%é");
        assert_eq!(shown("a b&%é*", Escape::Url), "a%20b%26%25%C3%A9*");
        assert_eq!(shown("a b&%é*", Escape::Form), "a+b%26%25%C3%A9*");
        assert_eq!(shown("4555666777888999", Escape::JsonValue), "4555666777888999");
        assert_eq!(shown("007", Escape::JsonValue), "\"007\"");
        assert_eq!(shown("a\"\n", Escape::JsonValue), "\"a\\\"\\n\"");
        assert_eq!(shown("a\"\n", Escape::JsonText), "a\\\"\\n");
        assert_eq!(shown("", Escape::JsonValue), "\"\"");
        assert_eq!(shown("[1]", Escape::JsonValue), "\"[1]\"");
    }

    #[test]
    fn urls_are_safe_on_the_wire() {
        let mut url = "http://h/a b\r\nX: é%41?q#frag".to_owned();
        wire_safe(&mut url);
        assert_eq!(url, "http://h/a%20b%0D%0AX:%20%C3%A9%41?q");
    }
}
