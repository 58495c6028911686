//! One Lua state with the script in it, bounded in memory and time.

use std::sync::Arc;

use mlua::{
    FromLuaMulti, Function, HookTriggers, IntoLuaMulti, Lua, LuaOptions, StdLib, VmState,
};

use super::{
    address,
    handle::{Handle, Shared},
    site::Site,
    watch::{Call, Watch},
};
use crate::{
    ScriptError,
    error::{HOST_CHUNK, STATE_BYTES_MAX},
};

const PRELUDE: &str = include_str!("prelude.lua");
/// Lua instructions between two looks at the clock: some 100 µs.
const LOOK_EVERY: u32 = 50_000;

/// A script's file.
#[derive(Clone, Debug)]
pub struct ScriptFile {
    /// As given: errors name it.
    pub name: String,
    /// Its text.
    pub text: Vec<u8>,
}

impl ScriptFile {
    /// Reads it.
    pub fn read(path: &std::path::Path) -> Result<Self, ScriptError> {
        let name = path.display().to_string();
        let text = std::fs::read(path);
        let text = text.map_err(|error| ScriptError(format!("cannot open {name}: {error}")))?;
        Ok(Self { name, text })
    }
}

/// A state.
pub(crate) struct State {
    pub(crate) lua: Lua,
    pub(crate) watch: Arc<Watch>,
    script: String,
    host: mlua::Table,
}

impl State {
    /// A state in which the file has run. `thread`: what `wrk.thread` is, in a thread's state.
    pub(crate) fn new(
        script: &ScriptFile,
        site: &Site,
        headers: &[(String, String)],
        thread: Option<&Arc<Shared>>,
    ) -> Result<Self, ScriptError> {
        let watch = Arc::new(Watch::default());
        watch.enter(Call::File);
        let raised = |error: &mlua::Error| raised(error, Call::File, &script.name);
        let made = make(&watch, script, site, headers, thread);
        let (lua, host) = made.map_err(|error| raised(&error))?;
        let state = Self { lua, watch, script: script.name.clone(), host };
        let chunk = state.lua.load(script.text.as_slice()).set_name(format!("@{}", script.name));
        chunk.set_mode(mlua::chunk::ChunkMode::Text).exec().map_err(|error| raised(&error))?;
        Ok(state)
    }

    /// One of the host's entry points.
    pub(crate) fn entry(&self, name: &str) -> Result<Function, ScriptError> {
        self.host.get(name).map_err(|error| self.raised(&error, Call::File))
    }

    /// Calls one of the host's entry points.
    pub(crate) fn call<R: FromLuaMulti>(
        &self,
        call: Call,
        entry: &str,
        arguments: impl IntoLuaMulti,
    ) -> Result<R, ScriptError> {
        self.watch.enter(call);
        self.entry(entry)?.call(arguments).map_err(|error| self.raised(&error, call))
    }

    /// Whether the script has a function of this name.
    pub(crate) fn has(&self, name: &str) -> Result<bool, ScriptError> {
        self.call(Call::File, "has", name)
    }

    /// Hands what the script has printed to the terminal.
    pub(crate) fn flush(&self) {
        // Nobody reads it any more: then nobody misses it.
        let _ignored = self.call::<()>(Call::File, "flush", ());
    }

    pub(crate) fn raised(&self, error: &mlua::Error, call: Call) -> ScriptError {
        raised(error, call, &self.script)
    }

    pub(crate) fn script(&self) -> &str {
        &self.script
    }
}

pub(crate) fn raised(error: &mlua::Error, call: Call, script: &str) -> ScriptError {
    ScriptError::raised(error, call.name(), script)
}

fn make(
    watch: &Arc<Watch>,
    script: &ScriptFile,
    site: &Site,
    headers: &[(String, String)],
    thread: Option<&Arc<Shared>>,
) -> mlua::Result<(Lua, mlua::Table)> {
    let lua = Lua::new_with(StdLib::ALL_SAFE, LuaOptions::default())?;
    lua.set_memory_limit(STATE_BYTES_MAX)?;
    let looking = Arc::clone(watch);
    let triggers = HookTriggers::new().every_nth_instruction(LOOK_EVERY);
    lua.set_global_hook(triggers, move |_, debug| match looking.look() {
        None => Ok(VmState::Continue),
        Some(why) => {
            let source = debug.source().short_src;
            let place = source.zip(debug.current_line());
            let place = place.map_or(String::new(), |(file, line)| format!("{file}:{line}: "));
            Err(mlua::Error::runtime(format!("{place}{why}")))
        }
    })?;
    let about = lua.create_table()?;
    about.set("scheme", site.scheme.as_str())?;
    about.set("host", site.host.as_str())?;
    about.set("port", site.port.as_deref())?;
    about.set("path", site.path.as_str())?;
    about.set("authority", site.authority())?;
    let pairs = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    about.set("headers", lua.create_table_from(pairs)?)?;
    let native = lua.create_table()?;
    let (lookup, connect) = address::functions(&lua)?;
    native.set("lookup", lookup)?;
    native.set("connect", connect)?;
    let looking = Arc::clone(watch);
    native.set("is_interrupted", lua.create_function(move |_, ()| Ok(looking.is_interrupted()))?)?;
    if let Some(shared) = thread {
        native.set("thread", Handle { shared: Arc::clone(shared), lua: lua.weak() })?;
    }
    let prelude = lua.load(PRELUDE).set_name(format!("={HOST_CHUNK}"));
    let host = prelude.call::<mlua::Table>((about, native))?;
    search_beside(&lua, &script.name)?;
    Ok((lua, host))
}

/// `require` finds what lies beside the script, too.
fn search_beside(lua: &Lua, script: &str) -> mlua::Result<()> {
    let folder = std::path::Path::new(script).parent().filter(|folder| *folder != "");
    if let Some(folder) = folder {
        let package: mlua::Table = lua.globals().get("package")?;
        let path: String = package.get("path")?;
        package.set("path", format!("{path};{}/?.lua", folder.display()))?;
    }
    Ok(())
}
