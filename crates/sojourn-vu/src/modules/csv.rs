//! `k6/experimental/csv`: tables in files, as a whole or row by row.

use std::cell::RefCell;
use std::rc::Rc;

use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord};
use sojourn_script::js::class::{JsClass, Readable, Trace, Tracer};
use sojourn_script::js::function::Constructor;
use sojourn_script::js::prelude::{Opt, This};
use sojourn_script::js::{self, Array, Class, Ctx, Function, JsLifetime, Object, Value};

use super::fs::{FileHandle, Place};
use super::{data, function, go_error, promise};
use crate::shared_array::SharedArray;
use crate::user::User;

/// Bytes that a table is read by.
const BUFFER_BYTES: usize = 4096;

pub(super) fn make<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let own = Rc::clone(user);
    function(&module, "parse", move |ctx: Ctx<'js>, file: Value<'js>, asked: Opt<Value<'js>>| {
        promise::of(&ctx, parse(&own, &ctx, &file, asked.0.as_ref()))
    })?;
    let own = Rc::clone(user);
    let construct =
        move |ctx: Ctx<'js>, _: This<Value<'js>>, file: Value<'js>, asked: Opt<Value<'js>>| {
            if own.phase.get() != crate::user::Phase::Init {
                let told = "csv Parser constructor must be called in the init context";
                return Err(go_error::throw(&ctx, told));
            }
            let asked = Asked::read(&ctx, asked.0.as_ref())?;
            let rows = Rows::new(&ctx, place(&ctx, &file)?, asked)?;
            Class::instance(ctx, Parser(RefCell::new(rows)))
        };
    let constructor = Function::new(ctx.clone(), construct)?.with_name("Parser")?;
    module.set("Parser", constructor.with_constructor(true))?;
    Ok(module)
}

fn place<'js>(ctx: &Ctx<'js>, file: &Value<'js>) -> js::Result<Place> {
    match Class::<FileHandle>::from_value(file) {
        Ok(file) => Ok(file.borrow().0.clone()),
        Err(_) => {
            let told = "failed to create a new parser; reason: the reader cannot be nil";
            Err(go_error::throw(ctx, told))
        }
    }
}

/// The options. Lines count from 0, both ends are meant; 0 is as good as none.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    delimiter: u8,
    skips_first_line: bool,
    from_line: u64,
    to_line: Option<u64>,
    as_objects: bool,
}

impl Asked {
    fn read<'js>(ctx: &Ctx<'js>, asked: Option<&Value<'js>>) -> js::Result<Self> {
        let mut read = Self {
            delimiter: b',',
            skips_first_line: false,
            from_line: 0,
            to_line: None,
            as_objects: false,
        };
        let Some(asked) = asked.and_then(Value::as_object) else { return Ok(read) };
        let wrong = |told: &str| {
            let told = format!("failed to interpret the provided Parser options; reason: {told}");
            go_error::throw(ctx, &told)
        };
        let value = |name: &str| asked.get::<_, Value<'js>>(name);
        if let Some(text) = value("delimiter")?.as_string() {
            match text.to_string()?.as_bytes() {
                [one] => read.delimiter = *one,
                _ => return Err(wrong("delimiter must be a single character")),
            }
        }
        read.skips_first_line = value("skipFirstLine")?.as_bool().unwrap_or(false);
        read.as_objects = value("asObjects")?.as_bool().unwrap_or(false);
        let refuse = |told: &str| {
            go_error::throw(ctx, &format!("failed to create a new parser; reason: {told}"))
        };
        for name in ["fromLine", "toLine"] {
            let line = value(name)?.as_number().unwrap_or(0.0);
            if line < 0.0 {
                let told =
                    format!("the '{name}' option must be greater than or equal to 0; got {line}");
                return Err(refuse(&told));
            }
            match name {
                "fromLine" => read.from_line = line as u64,
                _ => read.to_line = Some(line as u64).filter(|line| *line > 0),
            }
        }
        if read.to_line.is_some_and(|to_line| read.from_line >= to_line) {
            return Err(wrong("fromLine must be less than or equal to toLine"));
        }
        if read.as_objects && read.skips_first_line {
            let told = "the 'header' option cannot be enabled when 'skipFirstLine' is true";
            return Err(refuse(told));
        }
        if read.as_objects && read.from_line > 0 {
            let told = "the 'header' option cannot be enabled when 'fromLine' is set to a value \
                        greater than 0";
            return Err(refuse(told));
        }
        Ok(read)
    }
}

/// A table that is being read.
struct Rows {
    reader: Reader<Place>,
    asked: Asked,
    names: Option<StringRecord>,
    /// Of the next row.
    line: u64,
}

impl Rows {
    fn new(ctx: &Ctx<'_>, place: Place, asked: Asked) -> js::Result<Self> {
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .delimiter(asked.delimiter)
            .buffer_capacity(BUFFER_BYTES)
            .from_reader(place);
        let mut rows = Self { reader, asked, names: None, line: 0 };
        let ended = |what: &str| {
            let told = format!("failed to create a new parser; reason: {what}; reason: EOF");
            go_error::throw(ctx, &told)
        };
        if rows.asked.as_objects {
            rows.names =
                Some(rows.row(ctx)?.ok_or_else(|| ended("failed to read the first line"))?);
        } else if rows.asked.skips_first_line && rows.asked.from_line == 0 {
            rows.row(ctx)?.ok_or_else(|| ended("failed to skip the first line"))?;
        }
        let from_line = rows.asked.from_line;
        while rows.line < from_line {
            let what = format!("failed to skip lines until line {from_line}");
            rows.row(ctx)?.ok_or_else(|| ended(&what))?;
        }
        Ok(rows)
    }

    fn row(&mut self, ctx: &Ctx<'_>) -> js::Result<Option<StringRecord>> {
        let mut row = StringRecord::new();
        let read = self.reader.read_record(&mut row).map_err(|error| {
            let line = error.position().map_or(self.line + 1, csv::Position::line);
            let reason = match error.kind() {
                ErrorKind::UnequalLengths { .. } => {
                    format!("record on line {line}: wrong number of fields")
                }
                _ => error.to_string(),
            };
            go_error::throw(ctx, &format!("failed to read record; reason: {reason}"))
        })?;
        self.line += 1;
        Ok(read.then_some(row))
    }

    /// The next row that is meant, as JSON.
    fn next_json(&mut self, ctx: &Ctx<'_>) -> js::Result<Option<String>> {
        if self.asked.to_line.is_some_and(|to_line| self.line > to_line) {
            return Ok(None);
        }
        let Some(row) = self.row(ctx)? else { return Ok(None) };
        let fields = row.iter().map(serde_json::Value::from);
        let value = match &self.names {
            Some(names) => {
                let names = names.iter().map(str::to_owned);
                serde_json::Value::Object(names.zip(fields).collect())
            }
            None => serde_json::Value::Array(fields.collect()),
        };
        Ok(Some(value.to_string()))
    }
}

/// `parse(file, options)`: the rest of the file, as an array that all users share.
fn parse<'js>(
    user: &User,
    ctx: &Ctx<'js>,
    file: &Value<'js>,
    asked: Option<&Value<'js>>,
) -> js::Result<Value<'js>> {
    let place = place(ctx, file)?;
    let asked = Asked::read(ctx, asked)?;
    // No script can name an array so.
    let name = format!("\0csv {} {} {asked:?}", place.file.path.display(), place.at());
    let arrays = &user.host.settings.shared_arrays;
    let array = match arrays.get(&name) {
        Some(known) => {
            place.to_end();
            known
        }
        None => {
            let mut rows = Rows::new(ctx, place, asked)?;
            let mut all = Vec::new();
            while let Some(row) = rows.next_json(ctx)? {
                all.push(row);
            }
            arrays.insert(&name, SharedArray::new(all))
        }
    };
    data::wrap(ctx, array)
}

/// What `new Parser` gives.
struct Parser(RefCell<Rows>);

impl<'js> Trace<'js> for Parser {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

// SAFETY: nothing in it has the lifetime of an engine.
#[allow(unsafe_code)]
unsafe impl<'js> JsLifetime<'js> for Parser {
    type Changed<'to> = Self;
}

impl Parser {
    fn next<'js>(&self, ctx: &Ctx<'js>) -> js::Result<Object<'js>> {
        let row = self.0.borrow_mut().next_json(ctx)?;
        let result = Object::new(ctx.clone())?;
        result.set("done", row.is_none())?;
        match row {
            Some(row) => result.set("value", ctx.json_parse(row)?)?,
            None => result.set("value", Array::new(ctx.clone())?)?,
        }
        Ok(result)
    }
}

impl<'js> JsClass<'js> for Parser {
    const NAME: &'static str = "Parser";
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> js::Result<Option<Object<'js>>> {
        let proto = Object::new(ctx.clone())?;
        function(&proto, "next", |ctx: Ctx<'js>, own: This<Class<'js, Self>>| {
            promise::of(&ctx, own.0.borrow().next(&ctx))
        })?;
        Ok(Some(proto))
    }

    fn constructor(_: &Ctx<'js>) -> js::Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}
