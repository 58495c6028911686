//! `k6/encoding`: Base64.

use base64::Engine as _;
use base64::alphabet::{Alphabet, STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use sojourn_script::js::{self, ArrayBuffer, Ctx, Exception, IntoJs, Object, Value};

use super::coerced::{self, Any, Text};
use super::{bytes, crypto, function};

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    function(&module, "b64encode", |ctx: Ctx<'js>, input: Any<'js>, coding: Text| {
        let input = crypto::bytes_of(&ctx, &input.0)?;
        Ok::<_, js::Error>(self::coding(&coding.0).engine().encode(input))
    })?;
    function(
        &module,
        "b64decode",
        |ctx: Ctx<'js>, input: Any<'js>, coding: Text, format: Text| {
            let input = match bytes::of(&input.0) {
                Some(bytes) => bytes,
                None => coerced::text(&ctx, &input.0)?.into_bytes(),
            };
            let decoded = self::coding(&coding.0)
                .decode(&input)
                .map_err(|told| Exception::throw_message(&ctx, &told))?;
            output(&ctx, decoded, &format.0)
        },
    )?;
    Ok(module)
}

/// A way to write Base64.
struct Coding {
    alphabet: &'static Alphabet,
    is_padded: bool,
}

/// `std`, `rawstd` (without padding), `url`, `rawurl`; what is none of these is `std` in k6 too.
fn coding(name: &str) -> Coding {
    let (alphabet, is_padded) = match name {
        "rawstd" => (&STANDARD, false),
        "url" => (&URL_SAFE, true),
        "rawurl" => (&URL_SAFE, false),
        _ => (&STANDARD, true),
    };
    Coding { alphabet, is_padded }
}

impl Coding {
    fn engine(&self) -> GeneralPurpose {
        let padding = match self.is_padded {
            true => DecodePaddingMode::RequireCanonical,
            false => DecodePaddingMode::RequireNone,
        };
        let config = GeneralPurposeConfig::new()
            .with_encode_padding(self.is_padded)
            .with_decode_padding_mode(padding)
            .with_decode_allow_trailing_bits(true);
        GeneralPurpose::new(self.alphabet, config)
    }

    /// As Go does it, line ends may be anywhere.
    fn decode(&self, input: &[u8]) -> Result<Vec<u8>, String> {
        let is_kept = |byte: &u8| !matches!(byte, b'\r' | b'\n');
        let kept: Vec<u8> = input.iter().copied().filter(is_kept).collect();
        self.engine().decode(&kept).map_err(|_| {
            // The place among all bytes.
            let mut places = input.iter().enumerate().filter(|(_, byte)| is_kept(byte));
            let place = places.nth(self.wrong_at(&kept)).map_or(input.len(), |(at, _)| at);
            format!("illegal base64 data at input byte {place}")
        })
    }

    /// Which byte Go complains of: the first that is wrong; of too few the first of the last four.
    fn wrong_at(&self, input: &[u8]) -> usize {
        let is_symbol = |byte: &u8| self.alphabet.as_str().as_bytes().contains(byte);
        let Some(at) = input.iter().position(|byte| !is_symbol(byte)) else {
            return input.len() / 4 * 4;
        };
        if !self.is_padded || input[at] != b'=' || at % 4 < 2 {
            return at;
        }
        let padding = input[at..].iter().take(4 - at % 4).take_while(|byte| **byte == b'=');
        at + padding.count()
    }
}

fn output<'js>(ctx: &Ctx<'js>, bytes: Vec<u8>, format: &str) -> js::Result<Value<'js>> {
    if format == "s" {
        return String::from_utf8_lossy(&bytes).into_owned().into_js(ctx);
    }
    sojourn_script::buffers(ctx)?;
    ArrayBuffer::new(ctx.clone(), bytes).map(ArrayBuffer::into_value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(coding: &str, input: &str) -> String {
        let told = self::coding(coding).decode(input.as_bytes()).expect_err(input);
        told.trim_start_matches("illegal base64 data at input byte ").to_owned()
    }

    #[test]
    fn lines_and_places() {
        let right =
            |coding, input: &str| self::coding(coding).decode(input.as_bytes()).expect(input);
        assert_eq!(right("std", "\nYQ\r\n=\n="), b"a");
        assert_eq!(right("rawurl", "YQ\n"), b"a");
        assert_eq!(right("none such", "YR=="), b"a");
        assert_eq!(wrong("url", "YT\n8+"), "4");
        assert_eq!(wrong("std", "YT8"), "0");
        assert_eq!(wrong("std", "YQ="), "3");
        assert_eq!(wrong("std", "YT 8+"), "2");
        assert_eq!(wrong("std", "AAAAY"), "4");
        assert_eq!(wrong("rawstd", "YQ=="), "2");
        assert_eq!(wrong("std", "YQ==YQ=="), "4");
    }
}
