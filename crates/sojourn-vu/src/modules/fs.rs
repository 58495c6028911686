//! `k6/experimental/fs`: files that are read in pieces.

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use sojourn_script::js::class::{JsClass, Readable, Trace, Tracer};
use sojourn_script::js::function::Constructor;
use sojourn_script::js::object::Accessor;
use sojourn_script::js::prelude::{Opt, This};
use sojourn_script::js::{
    self, Class, Ctx, Exception, Function, JsLifetime, Object, TypedArray, Value,
};

use super::{function, promise};
use crate::globals;
use crate::open_files::OpenFile;
use crate::user::{Phase, User};

/// Most bytes of one read.
const READ_BYTES_MAX: u64 = 64 << 20;

pub(super) fn make<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let modes = Object::new(ctx.clone())?;
    for (name, mode) in [("Start", 0), ("Current", 1), ("End", 2)] {
        modes.set(name, mode)?;
    }
    module.set("SeekMode", modes)?;
    let user = Rc::clone(user);
    function(&module, "open", move |ctx: Ctx<'js>, path: Opt<Value<'js>>| {
        promise::of(&ctx, open(&user, &ctx, path.0))
    })?;
    Ok(module)
}

fn failed(ctx: &Ctx<'_>, call: &str, reason: &str) -> js::Error {
    Exception::throw_type(ctx, &format!("{call}() failed; reason: {reason}"))
}

/// What was handed over, if it is neither null nor undefined.
fn given<'js>(value: Option<Value<'js>>) -> Option<Value<'js>> {
    value.filter(|value| !value.is_null() && !value.is_undefined())
}

fn open<'js>(
    user: &User,
    ctx: &Ctx<'js>,
    path: Option<Value<'js>>,
) -> js::Result<Class<'js, FileHandle>> {
    if user.phase.get() != Phase::Init {
        let told = "open() failed; reason: opening a file is allowed only in the Init context";
        return Err(promise::throw(ctx, "ForbiddenError", told));
    }
    let path =
        given(path).ok_or_else(|| failed(ctx, "open", "path cannot be null or undefined"))?;
    let text = path.as_string().map(js::String::to_string).transpose()?.unwrap_or_default();
    if text.is_empty() {
        return Err(failed(ctx, "open", "path cannot be empty"));
    }
    let path = globals::absolute(&user.host.settings.folder, &text);
    let file =
        user.host.settings.open_files.open(&path, Some(&user.host.settings.bundle)).map_err(
            |error| {
                let shown = path.display();
                match error.kind() {
                    io::ErrorKind::NotFound => {
                        let told = format!("no such file or directory \"{shown}\"");
                        promise::throw(ctx, "NotFoundError", &told)
                    }
                    io::ErrorKind::IsADirectory => {
                        let told = format!(
                            "cannot open \"{shown}\": opening a directory is not supported"
                        );
                        promise::throw(ctx, "InvalidResourceError", &told)
                    }
                    _ => Exception::throw_message(ctx, &format!("open \"{shown}\": {error}")),
                }
            },
        )?;
    Class::instance(ctx.clone(), FileHandle(Place { file, at: Rc::default() }))
}

/// Where a user reads in a file. Clones read on from each other.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) file: Arc<OpenFile>,
    at: Rc<Cell<u64>>,
}

impl Place {
    /// From where it reads on, bytes from the start.
    pub(super) fn at(&self) -> u64 {
        self.at.get()
    }

    /// Everything has been read.
    pub(super) fn to_end(&self) {
        self.at.set(self.file.size);
    }
}

impl io::Read for Place {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(out, self.at.get())?;
        self.at.set(self.at.get() + read as u64);
        Ok(read)
    }
}

/// A `File`.
pub(super) struct FileHandle(pub(super) Place);

impl FileHandle {
    fn read<'js>(&self, ctx: &Ctx<'js>, into: Option<Value<'js>>) -> js::Result<Value<'js>> {
        let into = given(into)
            .ok_or_else(|| failed(ctx, "read", "into argument cannot be null or undefined"))?;
        let into = into
            .into_object()
            .and_then(|object| TypedArray::<u8>::from_object(object).ok())
            .ok_or_else(|| failed(ctx, "read", "into argument must be a Uint8Array"))?;
        let place = &self.0;
        let left = place.file.size.saturating_sub(place.at.get());
        let size = left.min(into.len() as u64).min(READ_BYTES_MAX);
        let mut bytes = vec![0; size as usize];
        let read = io::Read::read(&mut place.clone(), &mut bytes)
            .map_err(|error| Exception::throw_message(ctx, &error.to_string()))?;
        if read == 0 {
            return Ok(Value::new_null(ctx.clone()));
        }
        bytes.truncate(read);
        let set: Function<'js> = into.get("set")?;
        set.call::<_, ()>((This(into), TypedArray::new(ctx.clone(), bytes)?))?;
        Ok(Value::new_number(ctx.clone(), read as f64))
    }

    fn seek<'js>(
        &self,
        ctx: &Ctx<'js>,
        offset: Option<Value<'js>>,
        whence: Option<Value<'js>>,
    ) -> js::Result<f64> {
        let offset = given(offset).ok_or_else(|| {
            failed(ctx, "seek", "the offset argument cannot be null or undefined")
        })?;
        let offset = offset
            .as_number()
            .filter(|offset| offset.is_finite())
            .ok_or_else(|| failed(ctx, "seek", "the offset argument must be a number"))?;
        let whence = given(whence).ok_or_else(|| {
            failed(ctx, "seek", "the whence argument cannot be null or undefined")
        })?;
        let size = self.0.file.size as f64;
        let wrong = |told: &str| Exception::throw_type(ctx, told);
        let at = match whence.as_int() {
            Some(0) if offset < 0.0 => {
                return Err(wrong("offset cannot be negative when using SeekModeStart"));
            }
            Some(0) => offset,
            Some(1) => self.0.at.get() as f64 + offset,
            Some(2) if offset > 0.0 => {
                return Err(wrong("offset cannot be positive when using SeekModeEnd"));
            }
            // k6 counts from the last byte, not from behind it.
            Some(2) => (size - 1.0).max(0.0) + offset,
            _ => return Err(failed(ctx, "seek", "the whence argument must be a SeekMode")),
        };
        if at < 0.0 {
            return Err(wrong("seeking before start of file"));
        }
        if at > size {
            return Err(wrong("seeking beyond end of file"));
        }
        self.0.at.set(at as u64);
        Ok(at.trunc())
    }

    fn stat<'js>(&self, ctx: &Ctx<'js>) -> js::Result<Object<'js>> {
        let stat = Object::new(ctx.clone())?;
        let name = self.0.file.path.file_name().unwrap_or_default();
        stat.set("name", name.to_string_lossy().as_ref())?;
        stat.set("size", self.0.file.size as f64)?;
        Ok(stat)
    }
}

impl<'js> Trace<'js> for FileHandle {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

// SAFETY: nothing in it has the lifetime of an engine.
#[allow(unsafe_code)]
unsafe impl<'js> JsLifetime<'js> for FileHandle {
    type Changed<'to> = Self;
}

type Own<'js> = This<Class<'js, FileHandle>>;
type Given<'js> = Opt<Value<'js>>;

impl<'js> JsClass<'js> for FileHandle {
    const NAME: &'static str = "File";
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> js::Result<Option<Object<'js>>> {
        let proto = Object::new(ctx.clone())?;
        let path = |own: Own<'js>| own.0.borrow().0.file.path.to_string_lossy().into_owned();
        proto.prop("path", Accessor::new_get(path).enumerable())?;
        function(&proto, "stat", |ctx: Ctx<'js>, own: Own<'js>| {
            promise::of(&ctx, own.0.borrow().stat(&ctx))
        })?;
        function(&proto, "read", |ctx: Ctx<'js>, own: Own<'js>, into: Given<'js>| {
            promise::of(&ctx, own.0.borrow().read(&ctx, into.0))
        })?;
        function(
            &proto,
            "seek",
            |ctx: Ctx<'js>, own: Own<'js>, offset: Given<'js>, whence: Given<'js>| {
                promise::of(&ctx, own.0.borrow().seek(&ctx, offset.0, whence.0))
            },
        )?;
        Ok(Some(proto))
    }

    fn constructor(_: &Ctx<'js>) -> js::Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}
