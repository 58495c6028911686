//! Messages as text for people: heads with their secrets hidden, bodies as far as they are text.

use std::fmt::Write as _;

use super::Shown;
use crate::log::one_line;

/// Bytes of a body that is no text, shown in hexadecimal.
const BINARY_BYTES_SHOWN: usize = 32;
/// What stands for a secret.
const HIDDEN: &str = "***";

/// Whether a header's name says that its value is secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["authorization", "cookie", "token", "secret", "password", "credential", "api-key", "apikey"]
        .iter()
        .any(|secret| name.contains(secret))
}

/// Writes the head of a message, each line behind `mark`.
pub(super) fn head(out: &mut String, mark: &str, head: &Shown, shows_secrets: bool) {
    let text = String::from_utf8_lossy(&head.bytes);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let shown = match line.split_once(':') {
            Some((name, _)) if !shows_secrets && is_secret_name(name) => {
                format!("{name}: {HIDDEN}")
            }
            _ => line.to_owned(),
        };
        // Writing to a string never fails; the same below.
        writeln!(out, "{mark} {}", one_line(&shown).trim_end()).ok();
    }
    cut(out, mark, head);
}

/// Writes a body, each line behind `mark`; nothing for an empty one.
pub(super) fn body(out: &mut String, mark: &str, body: &Shown) {
    if body.bytes.is_empty() {
        return;
    }
    match text_of(body) {
        Some(text) => {
            for line in text.lines() {
                writeln!(out, "{mark} {}", one_line(line)).ok();
            }
            cut(out, mark, &Shown { bytes: text.as_bytes().to_vec(), total: body.total });
        }
        None => {
            let first = &body.bytes[..body.bytes.len().min(BINARY_BYTES_SHOWN)];
            let bytes: Vec<String> = first.iter().map(|byte| format!("{byte:02x}")).collect();
            let more = if first.len() < body.bytes.len() { " …" } else { "" };
            writeln!(out, "{mark} (binary, {} bytes) {}{more}", body.total, bytes.join(" ")).ok();
        }
    }
}

/// The bytes as text, if they are; a letter that the cut has split is left out.
fn text_of(body: &Shown) -> Option<&str> {
    let is_cut = (body.bytes.len() as u64) < body.total;
    let text = match std::str::from_utf8(&body.bytes) {
        Ok(text) => text,
        Err(error) if is_cut && error.error_len().is_none() => {
            std::str::from_utf8(&body.bytes[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    (!text.contains('\0')).then_some(text)
}

fn cut(out: &mut String, mark: &str, shown: &Shown) {
    let count = shown.bytes.len() as u64;
    if count < shown.total {
        writeln!(out, "{mark} … cut: {count} of {} bytes are shown", shown.total).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::super::SHOWN_BYTES_MAX;
    use super::*;

    fn shown_body(bytes: &[u8]) -> String {
        let mut out = String::new();
        body(&mut out, "<", &Shown::of(bytes));
        out
    }

    #[test]
    fn bodies_are_text_or_their_first_bytes() {
        assert_eq!(shown_body(b""), "");
        assert_eq!(shown_body("a\r\nä\u{1b}[1m\n".as_bytes()), "< a\n< ä\\u{1b}[1m\n");
        assert_eq!(shown_body(&[0x89, 0x50, 0xff]), "< (binary, 3 bytes) 89 50 ff\n");
        assert_eq!(shown_body(b"a\0b"), "< (binary, 3 bytes) 61 00 62\n");
        let long = shown_body(&[0xff; 40]);
        assert!(long.starts_with("< (binary, 40 bytes) ff ff") && long.ends_with("ff …\n"));
        let text = format!("x{}", "ä".repeat(SHOWN_BYTES_MAX));
        let shown = shown_body(text.as_bytes());
        let word = format!("< … cut: {} of {} bytes are shown\n", SHOWN_BYTES_MAX - 1, text.len());
        assert!(shown.ends_with(&word), "{}", &shown[shown.len() - 80..]);
    }

    #[test]
    fn secrets_are_hidden_unless_asked_for() {
        let message =
            Shown::of(b"GET / HTTP/1.1\r\nauthorization: Basic x\r\nSet-Cookie: a=b\r\nA: b");
        let mut out = String::new();
        head(&mut out, ">", &message, false);
        assert_eq!(out, "> GET / HTTP/1.1\n> authorization: ***\n> Set-Cookie: ***\n> A: b\n");
        out.clear();
        head(&mut out, ">", &message, true);
        assert!(out.contains("Basic x") && out.contains("a=b"));
    }
}
