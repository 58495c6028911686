//! The globals `TextEncoder` and `TextDecoder`.

use sojourn_script::js::{self, Array, ArrayBuffer, Ctx, Exception, Function, Object, Value};

use super::{bytes, function};

/// As WHATWG's standard of encodings has them, of UTF-8 and UTF-16.
const CLASSES: &str = r#"
(function (native) {
    const LABELS = {
        "utf-8": "utf-8", "utf8": "utf-8", "unicode-1-1-utf-8": "utf-8",
        "utf-16": "utf-16le", "utf-16le": "utf-16le", "utf-16be": "utf-16be",
    };
    class TextEncoder {
        get encoding() { return "utf-8"; }
        encode(text) { return new Uint8Array(native.encode(String(text ?? "").toWellFormed())); }
        encodeInto(text, target) {
            let read = 0, written = 0;
            for (const letter of String(text)) {
                const bytes = this.encode(letter);
                if (written + bytes.length > target.length) break;
                target.set(bytes, written);
                read += letter.length;
                written += bytes.length;
            }
            return { read, written };
        }
    }
    class TextDecoder {
        #kept = new Uint8Array(0);
        #begun = false;
        constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
            const encoding = LABELS[String(label).trim().toLowerCase()];
            if (encoding === undefined) throw new RangeError(`there is no encoding ${label} here`);
            Object.assign(this, { encoding, fatal: Boolean(fatal), ignoreBOM: Boolean(ignoreBOM) });
        }
        decode(data = new Uint8Array(0), { stream = false } = {}) {
            const view = data instanceof ArrayBuffer ? new Uint8Array(data)
                : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
            let bytes = view;
            if (this.#kept.length > 0) {
                bytes = new Uint8Array(this.#kept.length + view.length);
                bytes.set(this.#kept);
                bytes.set(view, this.#kept.length);
            }
            const [text, used] = native.decode(bytes, this.encoding, this.fatal, stream);
            this.#kept = bytes.slice(used);
            const isFirst = !this.#begun;
            this.#begun = stream && (this.#begun || text !== "");
            return isFirst && !this.ignoreBOM && text.startsWith("\ufeff") ? text.slice(1) : text;
        }
    }
    return { TextEncoder, TextDecoder };
})
"#;

/// `{TextEncoder, TextDecoder}`.
pub(crate) fn make<'js>(ctx: &Ctx<'js>) -> js::Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    function(&native, "encode", |ctx: Ctx<'js>, text: String| {
        ArrayBuffer::new(ctx, text.into_bytes())
    })?;
    function(
        &native,
        "decode",
        |ctx: Ctx<'js>, data: Value<'js>, encoding: String, fatal: bool, stream: bool| {
            let data = bytes::required(&ctx, &data, "the data")?;
            let decoded = match encoding.as_str() {
                "utf-8" => utf8(&data, stream),
                other => utf16(&data, other == "utf-16be", stream),
            };
            if fatal && !decoded.is_right {
                let told = format!("the data is no {encoding}");
                return Err(Exception::throw_type(&ctx, &told));
            }
            let pair = Array::new(ctx)?;
            pair.set(0, decoded.text)?;
            pair.set(1, decoded.used)?;
            Ok(pair)
        },
    )?;
    let classes: Function<'js> = ctx.eval(CLASSES)?;
    classes.call((native,))
}

struct Decoded {
    text: String,
    /// Bytes that are in the text; others are the beginning of a letter that is still to come.
    used: usize,
    is_right: bool,
}

fn utf8(data: &[u8], stream: bool) -> Decoded {
    let mut used = data.len();
    if stream
        && let Some(last) = data.utf8_chunks().last()
        && is_beginning(last.invalid())
    {
        used -= last.invalid().len();
    }
    let is_right = std::str::from_utf8(&data[..used]).is_ok();
    Decoded { text: String::from_utf8_lossy(&data[..used]).into_owned(), used, is_right }
}

/// Whether these bytes may become a letter when more follow.
fn is_beginning(bytes: &[u8]) -> bool {
    !bytes.is_empty() && std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

fn utf16(data: &[u8], is_big_endian: bool, stream: bool) -> Decoded {
    let (pairs, odd) = data.as_chunks::<2>();
    let unit = |pair: &[u8; 2]| {
        if is_big_endian { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) }
    };
    let mut units: Vec<u16> = pairs.iter().map(unit).collect();
    let ends_high = units.last().is_some_and(|last| (0xd800..0xdc00).contains(last));
    let mut used = data.len();
    if stream {
        used -= odd.len();
        if ends_high {
            used -= 2;
            units.pop();
        }
    }
    let is_whole = stream || odd.is_empty();
    let mut is_right = is_whole;
    let mut text = String::with_capacity(units.len());
    for letter in char::decode_utf16(units) {
        is_right &= letter.is_ok();
        text.push(letter.unwrap_or('\u{fffd}'));
    }
    if !is_whole {
        text.push('\u{fffd}');
    }
    Decoded { text, used, is_right }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_come_in_pieces_wait() {
        let euro = "a€".as_bytes();
        let first = utf8(&euro[..3], true);
        assert_eq!((first.text.as_str(), first.used, first.is_right), ("a", 1, true));
        let broken = utf8(&euro[..3], false);
        assert_eq!((broken.text.as_str(), broken.used, broken.is_right), ("a\u{fffd}", 3, false));
        let wrong = utf8(b"a\xff", true);
        assert_eq!((wrong.text.as_str(), wrong.used, wrong.is_right), ("a\u{fffd}", 2, false));
        let pair: Vec<u8> = "😀".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(utf16(&pair, true, false).text, "😀");
        assert_eq!(utf16(&pair[..3], true, true).used, 0);
        assert!(!utf16(&pair[..3], true, false).is_right);
    }
}
