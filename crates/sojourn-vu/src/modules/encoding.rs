//! `k6/encoding`: Base64.

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use sojourn_script::js::prelude::Opt;
use sojourn_script::js::{self, ArrayBuffer, Ctx, Exception, IntoJs, Object, Value};

use super::{bytes, function};

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    function(&module, "b64encode", |ctx: Ctx<'js>, input: Value<'js>, coding: Opt<String>| {
        let input = bytes::required(&ctx, &input, "the input")?;
        Ok::<_, js::Error>(engine(&ctx, coding.0.as_deref())?.encode(input))
    })?;
    function(
        &module,
        "b64decode",
        |ctx: Ctx<'js>, input: Value<'js>, coding: Opt<Option<String>>, format: Opt<String>| {
            let input = bytes::required(&ctx, &input, "the input")?;
            let engine = engine(&ctx, coding.0.flatten().as_deref())?;
            let decoded = engine
                .decode(input)
                .map_err(|error| Exception::throw_message(&ctx, &error.to_string()))?;
            output(&ctx, decoded, format.0.as_deref())
        },
    )?;
    Ok(module)
}

fn output<'js>(ctx: &Ctx<'js>, bytes: Vec<u8>, format: Option<&str>) -> js::Result<Value<'js>> {
    if format == Some("s") {
        return String::from_utf8_lossy(&bytes).into_owned().into_js(ctx);
    }
    ArrayBuffer::new(ctx.clone(), bytes).map(ArrayBuffer::into_value)
}

/// `std`, `rawstd` (without padding), `url`, `rawurl`.
fn engine(ctx: &Ctx<'_>, coding: Option<&str>) -> js::Result<GeneralPurpose> {
    let (alphabet, is_padded) = match coding.unwrap_or("std") {
        "std" | "" => (&STANDARD, true),
        "rawstd" => (&STANDARD, false),
        "url" => (&URL_SAFE, true),
        "rawurl" => (&URL_SAFE, false),
        other => {
            let told = format!("unknown Base64 coding \"{other}\": std, rawstd, url or rawurl");
            return Err(Exception::throw_message(ctx, &told));
        }
    };
    let padding = if is_padded {
        DecodePaddingMode::RequireCanonical
    } else {
        DecodePaddingMode::RequireNone
    };
    let config = GeneralPurposeConfig::new()
        .with_encode_padding(is_padded)
        .with_decode_padding_mode(padding);
    Ok(GeneralPurpose::new(alphabet, config))
}
