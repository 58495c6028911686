//! Globals of every script: `__ENV`, `__VU`, `console`, `open`, timers. What has many members is
//! made when a script first asks for it.

use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use sojourn_script::js::prelude::Rest;
use sojourn_script::js::{self, ArrayBuffer, Ctx, Exception, Function, IntoJs, Object, Value};

use crate::console::Level;
use crate::modules::coerced::Text;
use crate::modules::{function, lazy::on_demand, timers};
use crate::user::User;

/// How objects are printed: as Node prints them, functions and cycles named. What has no
/// members of its own that can be listed is `{}`.
const SHOW: &str = r#"
(function (value) {
    const above = [];
    const list = (parts, open, close) =>
        parts.length ? `${open} ${parts.join(", ")} ${close}` : open + close;
    const hex = (buffer) =>
        [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const show = (value) => {
        if (typeof value === "function") return "[object Function]";
        // As it is, whatever is in it.
        if (typeof value === "string") return `"${value}"`;
        if (typeof value === "symbol") return `"${value.description}"`;
        if (value === undefined) return "null";
        if (value === null || typeof value !== "object") return String(value);
        if (above.includes(value)) return "[Circular]";
        if (value instanceof Date) return JSON.stringify(value);
        if (value instanceof Error) return String(value);
        // What is made here has its members on its prototype.
        const isBare = !Object.keys(value).length;
        if (typeof value.toJSON === "function" && isBare) value = value.toJSON();
        if (value === null || typeof value !== "object") return show(value);
        if (value instanceof ArrayBuffer) {
            const bytes = `[Uint8Contents]: <${hex(value)}>`;
            return `ArrayBuffer { ${bytes}, byteLength: ${value.byteLength} }`;
        }
        above.push(value);
        let shown;
        if (Array.isArray(value)) {
            shown = list(Array.from(value, show), "[", "]");
        } else if (ArrayBuffer.isView(value) && value.length !== undefined) {
            const name = `${value.constructor.name}(${value.length}) `;
            shown = name + list(Array.from(value, show), "[", "]");
        } else {
            const entries = Object.entries(value);
            shown = list(entries.map(([key, inner]) => `${key}: ${show(inner)}`), "{", "}");
        }
        above.pop();
        return shown;
    };
    if (value === undefined) return "undefined";
    if (typeof value === "symbol") return value.description;
    return typeof value === "bigint" ? String(value) : show(value);
})
"#;

pub(crate) fn set<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<()> {
    let globals = ctx.globals();
    set_environment(ctx, user, None)?;
    globals.set("__VU", user.number())?;
    let own = Rc::clone(user);
    on_demand(&globals, "console", true, move |ctx| console(ctx, &own).map(Object::into_value))?;
    let own = Rc::clone(user);
    function(&globals, "open", move |ctx: Ctx<'js>, path: Text, mode: Text| {
        open(&own, &ctx, &path.0, &mode.0)
    })?;
    timers::set(&globals, user)?;
    globals.set("global", globals.clone())
}

/// Variables are texts, whatever is set.
const TEXTS: &str = r#"
(function (env) {
    const text = (value) => (value === undefined || value === null ? "" : String(value));
    return new Proxy(env, {
        defineProperty: (target, key, { value, ...rest }) => Reflect.defineProperty(target, key, {
            configurable: true, enumerable: true, writable: true, ...rest,
            value: typeof key === "string" ? text(value) : value,
        }),
    });
})
"#;

/// Sets `__ENV` to the test's variables, and those of a scenario. Made when it is first asked for:
/// most scripts read few of them or none, and there are some tens, with the system's.
pub(crate) fn set_environment<'js>(
    ctx: &Ctx<'js>,
    user: &Rc<User>,
    scenario: Option<usize>,
) -> js::Result<()> {
    let own = Rc::clone(user);
    on_demand(&ctx.globals(), "__ENV", true, move |ctx| {
        env(ctx, &own, scenario).map(Object::into_value)
    })
}

fn env<'js>(ctx: &Ctx<'js>, user: &User, scenario: Option<usize>) -> js::Result<Object<'js>> {
    let env = Object::new(ctx.clone())?;
    let settings = &user.host.settings;
    for (name, value) in &settings.env {
        env.set(name.as_str(), value.as_str())?;
    }
    if let Some(scenario) = scenario.and_then(|index| settings.scenarios.get(index)) {
        for (name, value) in scenario.env.iter() {
            env.set(name.as_str(), value.as_str())?;
        }
    }
    let texts: Function<'js> = ctx.eval(TEXTS)?;
    texts.call((env,))
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

/// Throws what k6 throws of a function that only the script's top level may call.
pub(crate) fn only_at_init(user: &User, ctx: &Ctx<'_>, function: &str) -> js::Result<()> {
    if user.phase.get() == crate::user::Phase::Init {
        return Ok(());
    }
    let told = format!(
        "the \"{function}\" function is only available in the init stage (i.e. the global scope), \
         see https://grafana.com/docs/k6/latest/using-k6/test-lifecycle/ for more information"
    );
    Err(Exception::throw_message(ctx, &told))
}

/// A file's content, as text or, with mode `b`, as bytes.
fn open<'js>(user: &User, ctx: &Ctx<'js>, path: &str, mode: &str) -> js::Result<Value<'js>> {
    only_at_init(user, ctx, "open")?;
    if path.is_empty() {
        return Err(Exception::throw_message(ctx, "open() can't be used with an empty filename"));
    }
    let path = absolute(&folder(user, ctx, path), path);
    let content = user.host.settings.bundle.open(&path).map_err(|problem| {
        let shown = path.display();
        let told = if path.exists() {
            format!("open {shown}: {problem}")
        } else {
            format!("stat {shown}: no such file or directory")
        };
        Exception::throw_message(ctx, &told)
    })?;
    if mode == "b" {
        sojourn_script::buffers(ctx)?;
        return ArrayBuffer::new_copy(ctx.clone(), &content[..]).map(ArrayBuffer::into_value);
    }
    String::from_utf8_lossy(&content).into_owned().into_js(ctx)
}

/// Where a relative path that is opened begins: at the module that is evaluated. In a function that
/// another module calls this is not where it is written, which is told.
fn folder(user: &User, ctx: &Ctx<'_>, text: &str) -> PathBuf {
    let folder_of = |address: Option<String>| {
        let path = url::Url::parse(&address?).ok()?.to_file_path().ok()?;
        path.parent().map(Path::to_owned)
    };
    let settings = &user.host.settings;
    let caller = sojourn_script::calling(ctx);
    let begun = folder_of(sojourn_script::begun_in(ctx));
    let begun = begun.unwrap_or_else(|| settings.folder.clone());
    let written = folder_of(caller.clone()).unwrap_or_else(|| settings.folder.clone());
    if !settings.bundle_is_frozen()
        && begun != written
        && !text.starts_with('/')
        && !text.starts_with("file:")
    {
        settings.console.warn(&format!(
            "open(\"{text}\") in {} is relative to {}, since another module calls the function: \
             open(import.meta.resolve(\"{text}\")) is relative to where it is written",
            caller.unwrap_or_default(),
            begun.display()
        ));
    }
    begun
}

/// Where a path that a script opens leads to; relative ones begin at the script's folder.
pub(crate) fn absolute(folder: &Path, text: &str) -> PathBuf {
    let joined = folder.join(text.strip_prefix("file://").unwrap_or(text));
    let mut path = PathBuf::new();
    for part in joined.components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}
