//! `Blob`: bytes that scripts hold without looking at them.

use bytes::Bytes;
use sojourn_script::js::atom::PredefinedAtom;
use sojourn_script::js::class::{JsClass, Readable, Trace, Tracer};
use sojourn_script::js::function::Constructor;
use sojourn_script::js::object::{Accessor, Property};
use sojourn_script::js::prelude::{Opt, This};
use sojourn_script::js::{
    self, ArrayBuffer, Class, Coerced, Ctx, FromJs, Function, IntoJs, JsLifetime, Object, Promise,
    TypedArray, Value,
};

use super::super::coerced::{Text, Whole};
use super::super::go_error::throw;
use super::super::{bytes as of_script, function};

/// A stream of these bytes, as the module of streams makes it.
const STREAM: &str = r#"
(function (ReadableStream, bytes) {
    return new ReadableStream({
        start(controller) {
            if (bytes.length > 0) controller.enqueue(bytes);
            controller.close();
        },
    });
})
"#;

/// See the module's page.
pub(super) struct Blob {
    bytes: Bytes,
    kind: String,
}

/// A blob as scripts have it.
pub(super) fn object<'js>(ctx: &Ctx<'js>, bytes: Bytes) -> js::Result<Value<'js>> {
    Ok(Class::instance(ctx.clone(), Blob { bytes, kind: String::new() })?.into_value())
}

/// `new Blob([parts], {type})`.
pub(super) fn constructor<'js>(ctx: &Ctx<'js>) -> js::Result<Function<'js>> {
    let construct = |ctx: Ctx<'js>, parts: Opt<Value<'js>>, options: Opt<Value<'js>>| {
        let mut bytes = Vec::new();
        if let Some(parts) = parts.0.filter(|parts| !parts.is_undefined() && !parts.is_null()) {
            let Some(parts) = parts.as_array() else {
                return Err(throw(&ctx, "failed to process [blobParts]: they are no array"));
            };
            for part in parts.iter::<Value<'js>>() {
                bytes.append(&mut part_of(&ctx, &part?)?);
            }
        }
        let options = options.0.and_then(Value::into_object);
        let kind = options.map(|options| options.get::<_, Value<'js>>("type")).transpose()?;
        let kind = kind.filter(|kind| !kind.is_undefined());
        let kind = kind.map(|kind| Coerced::<String>::from_js(&ctx, kind)).transpose()?;
        let kind = kind.map_or_else(String::new, |kind| kind.0);
        Class::instance(ctx.clone(), Blob { bytes: bytes.into(), kind })
    };
    let class = Function::new(ctx.clone(), construct)?.with_name("Blob")?.with_constructor(true);
    if let Some(prototype) = Class::<Blob>::prototype(ctx)? {
        prototype.prop("constructor", Property::from(class.clone()).writable().configurable())?;
        class.prop("prototype", prototype)?;
    }
    Ok(class)
}

fn part_of<'js>(ctx: &Ctx<'js>, part: &Value<'js>) -> js::Result<Vec<u8>> {
    if let Ok(blob) = Class::<Blob>::from_value(part) {
        return Ok(blob.borrow().bytes.to_vec());
    }
    of_script::of(part).ok_or_else(|| {
        throw(ctx, "failed to process [blobParts]: a part is no string, buffer, view or Blob")
    })
}

impl<'js> Trace<'js> for Blob {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

// SAFETY: nothing in it has the lifetime of an engine.
#[allow(unsafe_code)]
unsafe impl<'js> JsLifetime<'js> for Blob {
    type Changed<'to> = Self;
}

type Own<'js> = This<Class<'js, Blob>>;

/// A promise that is kept already.
fn kept<'js, T: IntoJs<'js>>(ctx: &Ctx<'js>, value: T) -> js::Result<Promise<'js>> {
    let (promise, resolve, _) = ctx.promise()?;
    resolve.call::<_, ()>((value,))?;
    Ok(promise)
}

impl<'js> JsClass<'js> for Blob {
    const NAME: &'static str = "Blob";
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> js::Result<Option<Object<'js>>> {
        let proto = Object::new(ctx.clone())?;
        let size = Accessor::new_get(|own: Own<'js>| own.0.borrow().bytes.len());
        proto.prop("size", size.enumerable())?;
        let kind = Accessor::new_get(|own: Own<'js>| own.0.borrow().kind.clone());
        proto.prop("type", kind.enumerable())?;
        function(&proto, "text", |ctx: Ctx<'js>, own: Own<'js>| {
            kept(&ctx, String::from_utf8_lossy(&own.0.borrow().bytes).into_owned())
        })?;
        function(&proto, "arrayBuffer", |ctx: Ctx<'js>, own: Own<'js>| {
            sojourn_script::buffers(&ctx)?;
            kept(&ctx, ArrayBuffer::new_copy(ctx.clone(), &own.0.borrow().bytes[..])?)
        })?;
        function(&proto, "bytes", |ctx: Ctx<'js>, own: Own<'js>| {
            sojourn_script::buffers(&ctx)?;
            kept(&ctx, TypedArray::<u8>::new_copy(ctx.clone(), &own.0.borrow().bytes[..])?)
        })?;
        function(
            &proto,
            "slice",
            |ctx: Ctx<'js>, own: Own<'js>, from: Whole, to: Opt<Value<'js>>, kind: Text| {
                let blob = own.0.borrow();
                let to = to.0.filter(|to| !to.is_undefined());
                let to = to.map(|to| Coerced::<f64>::from_js(&ctx, to)).transpose()?;
                let range = range(blob.bytes.len(), from.0, to.map(|to| to.0 as i64));
                let bytes = blob.bytes.slice(range);
                Class::instance(ctx, Self { bytes, kind: kind.0 })
            },
        )?;
        function(&proto, "stream", |ctx: Ctx<'js>, own: Own<'js>| {
            sojourn_script::buffers(&ctx)?;
            let streams = sojourn_script::built_in(&ctx, "k6/experimental/streams")?;
            let class: Value<'js> = streams.get("ReadableStream")?;
            let bytes = TypedArray::<u8>::new_copy(ctx.clone(), &own.0.borrow().bytes[..])?;
            let make: Function<'js> = ctx.eval(STREAM)?;
            make.call::<_, Value<'js>>((class, bytes))
        })?;
        proto.prop(PredefinedAtom::SymbolToStringTag, Self::NAME)?;
        Ok(Some(proto))
    }

    fn constructor(_: &Ctx<'js>) -> js::Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

/// A part of `size` bytes; what is negative counts from the end.
fn range(size: usize, from: i64, to: Option<i64>) -> std::ops::Range<usize> {
    let place = |at: i64| {
        let at = if at < 0 { at.saturating_add(size as i64) } else { at };
        at.clamp(0, size as i64) as usize
    };
    let from = place(from);
    from..place(to.unwrap_or(size as i64)).max(from)
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn parts_are_within_the_whole() {
        assert_eq!(range(4, 1, Some(3)), 1..3);
        assert_eq!(range(4, -2, None), 2..4);
        assert_eq!(range(4, 3, Some(1)), 3..3);
        assert_eq!(range(4, 9, Some(99)), 4..4);
        assert_eq!(range(4, i64::MIN, Some(i64::MAX)), 0..4);
    }
}
