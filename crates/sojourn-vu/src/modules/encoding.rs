//! `k6/encoding`: Base64.

use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{DecodeError, Engine as _};
use sojourn_script::js::{self, ArrayBuffer, Ctx, Exception, IntoJs, Object, Value};

use super::coerced::{self, Any, Text};
use super::{bytes, crypto, function};

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    function(&module, "b64encode", |ctx: Ctx<'js>, input: Any<'js>, coding: Text| {
        let input = crypto::bytes_of(&ctx, &input.0)?;
        Ok::<_, js::Error>(engine(&coding.0).encode(input))
    })?;
    function(
        &module,
        "b64decode",
        |ctx: Ctx<'js>, input: Any<'js>, coding: Text, format: Text| {
            let input = match bytes::of(&input.0) {
                Some(bytes) => bytes,
                None => coerced::text(&ctx, &input.0)?.into_bytes(),
            };
            let decoded = decode(&engine(&coding.0), &input)
                .map_err(|told| Exception::throw_message(&ctx, &told))?;
            output(&ctx, decoded, &format.0)
        },
    )?;
    Ok(module)
}

/// As Go does it, line ends may be anywhere.
fn decode(engine: &GeneralPurpose, input: &[u8]) -> Result<Vec<u8>, String> {
    let is_kept = |byte: &u8| !matches!(byte, b'\r' | b'\n');
    let kept: Vec<u8> = input.iter().copied().filter(is_kept).collect();
    engine.decode(&kept).map_err(|error| {
        // The place among all bytes.
        let mut places = input.iter().enumerate().filter(|(_, byte)| is_kept(byte));
        let place = places.nth(wrong_at(&error, &kept)).map_or(input.len(), |(at, _)| at);
        format!("illegal base64 data at input byte {place}")
    })
}

/// Which byte Go complains of: of too few of them the first of the last four.
fn wrong_at(error: &DecodeError, input: &[u8]) -> usize {
    match error {
        DecodeError::InvalidByte(at, _) => *at,
        DecodeError::InvalidLastSymbol { offset, .. } => *offset,
        DecodeError::InvalidLength(_) | DecodeError::InvalidPadding => {
            let is_one_missing = input.ends_with(b"=");
            if is_one_missing { input.len() } else { input.len() / 4 * 4 }
        }
    }
}

fn output<'js>(ctx: &Ctx<'js>, bytes: Vec<u8>, format: &str) -> js::Result<Value<'js>> {
    if format == "s" {
        return String::from_utf8_lossy(&bytes).into_owned().into_js(ctx);
    }
    sojourn_script::buffers(ctx)?;
    ArrayBuffer::new(ctx.clone(), bytes).map(ArrayBuffer::into_value)
}

/// `std`, `rawstd` (without padding), `url`, `rawurl`; what is none of these is `std` in k6 too.
fn engine(coding: &str) -> GeneralPurpose {
    let (alphabet, is_padded) = match coding {
        "rawstd" => (&STANDARD, false),
        "url" => (&URL_SAFE, true),
        "rawurl" => (&URL_SAFE, false),
        _ => (&STANDARD, true),
    };
    let padding = if is_padded {
        DecodePaddingMode::RequireCanonical
    } else {
        DecodePaddingMode::RequireNone
    };
    let config = GeneralPurposeConfig::new()
        .with_encode_padding(is_padded)
        .with_decode_padding_mode(padding)
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(alphabet, config)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(coding: &str, input: &str) -> String {
        let told = decode(&engine(coding), input.as_bytes()).expect_err(input);
        told.trim_start_matches("illegal base64 data at input byte ").to_owned()
    }

    #[test]
    fn lines_and_places() {
        let right = |coding, input: &str| decode(&engine(coding), input.as_bytes()).expect(input);
        assert_eq!(right("std", "\nYQ\r\n=\n="), b"a");
        assert_eq!(right("rawurl", "YQ\n"), b"a");
        assert_eq!(right("none such", "YR=="), b"a");
        assert_eq!(wrong("url", "YT\n8+"), "4");
        assert_eq!(wrong("std", "YT8"), "0");
        assert_eq!(wrong("std", "YQ="), "3");
        assert_eq!(wrong("std", "YT 8+"), "2");
        assert_eq!(wrong("std", "AAAAY"), "4");
    }
}
