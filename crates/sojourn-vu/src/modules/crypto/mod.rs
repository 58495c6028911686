//! `k6/crypto`: digests, HMAC, random bytes.

pub(crate) mod hash;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use sojourn_script::js::class::{JsClass, Trace, Tracer, Writable};
use sojourn_script::js::function::Constructor;
use sojourn_script::js::prelude::This;
use sojourn_script::js::{self, ArrayBuffer, Class, Ctx, IntoJs, JsLifetime, Object, Value};

use self::hash::{Hash, NAMES};
use super::coerced::{Any, Number, Text};
use super::{bytes, function, go_error, go_type};

/// Most random bytes at a time.
const RANDOM_BYTES_MAX: f64 = (1_u64 << 30) as f64;

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    for name in NAMES {
        function(&module, name, move |ctx: Ctx<'js>, input: Any<'js>, form: Text| {
            let mut hash = new_hash(&ctx, name)?;
            let Some(bytes) = bytes::of(&input.0) else {
                let told = format!("{name} failed: {}", wrong_type(&ctx, &input.0)?);
                return Err(go_error::throw(&ctx, &told));
            };
            hash.update(&bytes);
            output(&ctx, hash.result(), &form.0)
        })?;
    }
    function(&module, "createHash", |ctx: Ctx<'js>, name: Text| {
        Class::instance(ctx.clone(), Hasher(new_hash(&ctx, &name.0)?))
    })?;
    function(&module, "createHMAC", |ctx: Ctx<'js>, name: Text, key: Any<'js>| {
        Class::instance(ctx.clone(), Hasher(keyed(&ctx, &name.0, &key.0)?))
    })?;
    function(
        &module,
        "hmac",
        |ctx: Ctx<'js>, name: Text, key: Any<'js>, input: Any<'js>, form: Text| {
            let mut hash = keyed(&ctx, &name.0, &key.0)?;
            hash.update(&bytes_of(&ctx, &input.0)?);
            output(&ctx, hash.result(), &form.0)
        },
    )?;
    function(&module, "randomBytes", |ctx: Ctx<'js>, size: Number| random_bytes(&ctx, size.0))?;
    function(&module, "hexEncode", |ctx: Ctx<'js>, input: Any<'js>| {
        Ok::<_, js::Error>(hex(&bytes_of(&ctx, &input.0)?))
    })?;
    Ok(module)
}

fn new_hash(ctx: &Ctx<'_>, name: &str) -> js::Result<Hash> {
    Hash::new(name).ok_or_else(|| unknown(ctx, name))
}

fn keyed<'js>(ctx: &Ctx<'js>, name: &str, key: &Value<'js>) -> js::Result<Hash> {
    Hash::keyed(name, &bytes_of(ctx, key)?).ok_or_else(|| unknown(ctx, name))
}

fn unknown(ctx: &Ctx<'_>, name: &str) -> js::Error {
    go_error::throw(ctx, &format!("invalid algorithm: {name}"))
}

/// Bytes that a script gives; whatever else it is throws.
pub(super) fn bytes_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<Vec<u8>> {
    match bytes::of(value) {
        Some(bytes) => Ok(bytes),
        None => Err(go_error::throw(ctx, &wrong_type(ctx, value)?)),
    }
}

/// In Go's names of types, which scripts of k6 see.
fn wrong_type<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<String> {
    let kind = go_type::name(ctx, value)?;
    Ok(format!("invalid type {kind}, expected string, []byte or ArrayBuffer"))
}

fn random_bytes<'js>(ctx: &Ctx<'js>, size: f64) -> js::Result<ArrayBuffer<'js>> {
    if !(1.0..=RANDOM_BYTES_MAX).contains(&size) {
        return Err(go_error::throw(ctx, "invalid size"));
    }
    let mut bytes = vec![0; size as usize];
    fill_random(ctx, &mut bytes)?;
    ArrayBuffer::new(ctx.clone(), bytes)
}

/// Bytes that nobody can foretell.
pub(crate) fn fill_random(ctx: &Ctx<'_>, bytes: &mut [u8]) -> js::Result<()> {
    aws_lc_rs::rand::fill(bytes)
        .map_err(|_| go_error::throw(ctx, "the system gives no random bytes"))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |number: u8| char::from(DIGITS[usize::from(number)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// A result as scripts ask for it.
fn output<'js>(ctx: &Ctx<'js>, bytes: Vec<u8>, form: &str) -> js::Result<Value<'js>> {
    let text = match form {
        "hex" => hex(&bytes),
        "base64" => STANDARD.encode(bytes),
        "base64url" => URL_SAFE.encode(bytes),
        "base64rawurl" => URL_SAFE_NO_PAD.encode(bytes),
        "binary" => return ArrayBuffer::new(ctx.clone(), bytes).map(ArrayBuffer::into_value),
        _ => {
            let told = format!("invalid output encoding: {form}");
            return Err(go_error::throw(ctx, &told));
        }
    };
    text.into_js(ctx)
}

/// What `createHash` and `createHMAC` give.
struct Hasher(Hash);

impl<'js> Trace<'js> for Hasher {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

// SAFETY: nothing in it has the lifetime of an engine.
#[allow(unsafe_code)]
unsafe impl<'js> JsLifetime<'js> for Hasher {
    type Changed<'to> = Self;
}

type Own<'js> = This<Class<'js, Hasher>>;

impl<'js> JsClass<'js> for Hasher {
    const NAME: &'static str = "Hasher";
    type Mutable = Writable;

    fn prototype(ctx: &Ctx<'js>) -> js::Result<Option<Object<'js>>> {
        let proto = Object::new(ctx.clone())?;
        function(&proto, "update", |ctx: Ctx<'js>, own: Own<'js>, input: Any<'js>| {
            let input = bytes_of(&ctx, &input.0)?;
            own.0.borrow_mut().0.update(&input);
            Ok::<_, js::Error>(())
        })?;
        function(&proto, "digest", |ctx: Ctx<'js>, own: Own<'js>, form: Text| {
            let result = own.0.borrow().0.result();
            output(&ctx, result, &form.0)
        })?;
        Ok(Some(proto))
    }

    fn constructor(_: &Ctx<'js>) -> js::Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}
