//! Globals of every script: `__ENV`, `__VU`, `console`, `open`, timers.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use sojourn_script::js::prelude::{Opt, Rest};
use sojourn_script::js::{self, ArrayBuffer, Ctx, Exception, Function, IntoJs, Object, Value};

use crate::console::Level;
use crate::modules::{function, timers};
use crate::user::User;

/// How objects are printed: as JSON, functions and cycles named.
const SHOW: &str = r#"
(function (value) {
    const seen = new Set();
    const show = (value) => {
        if (typeof value === "function") return "[object Function]";
        if (value === null || typeof value !== "object") return value;
        if (seen.has(value)) return "[Circular]";
        seen.add(value);
        let shown = value;
        if (typeof value.toJSON === "function") shown = value.toJSON();
        else if (value instanceof Error) shown = { ...value };
        else if (value instanceof Map) shown = Object.fromEntries(value);
        else if (value instanceof Set) shown = [...value];
        else if (value instanceof ArrayBuffer) shown = [...new Uint8Array(value)];
        else if (ArrayBuffer.isView(value)) shown = [...value];
        if (Array.isArray(shown)) shown = shown.map(show);
        else if (shown !== null && typeof shown === "object") {
            const entries = Object.entries(shown).map(([key, inner]) => [key, show(inner)]);
            shown = Object.fromEntries(entries);
        }
        seen.delete(value);
        return shown;
    };
    if (typeof value === "object" && value !== null && !(value instanceof Error)) {
        return JSON.stringify(show(value));
    }
    return typeof value === "function" ? "[object Function]" : String(value);
})
"#;

pub(crate) fn set<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<()> {
    let globals = ctx.globals();
    let env = Object::new(ctx.clone())?;
    for (name, value) in &user.host.settings.env {
        env.set(name.as_str(), value.as_str())?;
    }
    globals.set("__ENV", env)?;
    globals.set("__VU", user.counts.id.get())?;
    globals.set("console", console(ctx, user)?)?;
    let own = Rc::clone(user);
    function(&globals, "open", move |ctx: Ctx<'js>, path: Opt<Value<'js>>, mode: Opt<String>| {
        open(&own, &ctx, path.0.as_ref(), mode.0.as_deref())
    })?;
    timers::set(&globals, user)?;
    globals.set("global", globals.clone())
}

fn console<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let console = Object::new(ctx.clone())?;
    let levels = [
        ("log", Level::Info),
        ("info", Level::Info),
        ("debug", Level::Debug),
        ("warn", Level::Warning),
        ("error", Level::Error),
    ];
    for (name, level) in levels {
        let user = Rc::clone(user);
        function(&console, name, move |ctx: Ctx<'js>, values: Rest<Value<'js>>| {
            let mut texts = Vec::with_capacity(values.len());
            for value in values.0 {
                texts.push(shown(&ctx, value)?);
            }
            user.host.settings.console.script(level, &texts.join(" "));
            Ok::<_, js::Error>(())
        })?;
    }
    Ok(console)
}

fn shown<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> js::Result<String> {
    if let Some(text) = value.as_string() {
        return text.to_string();
    }
    // Made when something other than text is printed first: most scripts print text alone.
    let globals = ctx.globals();
    let known: Option<Function<'js>> = globals.get("__sojourn_show")?;
    let show = match known {
        Some(known) => known,
        None => {
            let made: Function<'js> = ctx.eval(SHOW)?;
            globals.prop("__sojourn_show", js::object::Property::from(made.clone()))?;
            made
        }
    };
    show.call((value,))
}

/// A file's content, as text or, with mode `b`, as bytes.
fn open<'js>(
    user: &User,
    ctx: &Ctx<'js>,
    path: Option<&Value<'js>>,
    mode: Option<&str>,
) -> js::Result<Value<'js>> {
    if user.phase.get() != crate::user::Phase::Init {
        let told = "the \"open()\" function is only available in the init stage (i.e. the global \
                    scope)";
        return Err(Exception::throw_message(ctx, told));
    }
    let text = path.and_then(|path| path.as_string()).map(js::String::to_string).transpose()?;
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Err(Exception::throw_message(ctx, "open() can't be used with an empty filename"));
    };
    let path = absolute(&user.host.settings.folder, &text);
    let content = user.host.settings.bundle.open(&path).map_err(|problem| {
        Exception::throw_message(ctx, &format!("open {}: {problem}", path.display()))
    })?;
    if mode.is_some_and(|mode| mode.contains('b')) {
        sojourn_script::buffers(ctx)?;
        return ArrayBuffer::new_copy(ctx.clone(), &content[..]).map(ArrayBuffer::into_value);
    }
    String::from_utf8_lossy(&content).into_owned().into_js(ctx)
}

/// Where a path that a script opens leads to; relative ones begin at the script's folder.
fn absolute(folder: &Path, text: &str) -> PathBuf {
    folder.join(text.strip_prefix("file://").unwrap_or(text))
}
