//! Bytes that scripts hand over: strings, buffers, typed arrays.

use sojourn_script::js::{ArrayBuffer, Ctx, Exception, Object, Result, Value};

/// The bytes of a string (UTF-8), an `ArrayBuffer`, a typed array or a `DataView`; else `None`.
pub(crate) fn of(value: &Value<'_>) -> Option<Vec<u8>> {
    if let Some(text) = value.as_string() {
        return text.to_string().ok().map(String::into_bytes);
    }
    let object = value.as_object()?;
    if let Some(buffer) = ArrayBuffer::from_object(object.clone()) {
        return copy(&buffer, 0, buffer.len());
    }
    of_view(object)
}

/// The bytes that a view of a buffer shows.
fn of_view(view: &Object<'_>) -> Option<Vec<u8>> {
    let buffer = view.get::<_, Option<Object<'_>>>("buffer").ok()??;
    let buffer = ArrayBuffer::from_object(buffer)?;
    let offset = view.get::<_, usize>("byteOffset").ok()?;
    let length = view.get::<_, usize>("byteLength").ok()?;
    copy(&buffer, offset, length)
}

#[allow(unsafe_code)]
fn copy(buffer: &ArrayBuffer<'_>, offset: usize, length: usize) -> Option<Vec<u8>> {
    // SAFETY: no script runs while the slice is borrowed, so nothing detaches or resizes the
    // buffer.
    let bytes = unsafe { buffer.as_bytes() }?;
    bytes.get(offset..offset.checked_add(length)?).map(<[u8]>::to_vec)
}

/// Like [`of`]; whatever else it is throws.
pub(crate) fn required(ctx: &Ctx<'_>, value: &Value<'_>, what: &str) -> Result<Vec<u8>> {
    of(value).ok_or_else(|| {
        let told = format!("{what} must be a string, an ArrayBuffer or a typed array");
        Exception::throw_type(ctx, &told)
    })
}
