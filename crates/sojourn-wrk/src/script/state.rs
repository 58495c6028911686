//! One Lua state with the script in it, bounded in memory and time.

use std::sync::Arc;

use mlua::{FromLuaMulti, Function, HookTriggers, IntoLuaMulti, Lua, LuaOptions, StdLib, VmState};

use super::{
    address,
    handle::{Handle, Shared},
    site::Site,
    watch::{Call, Watch},
};
use crate::{
    ScriptError,
    error::{HOST_CHUNK, STATE_BYTES_MAX, is_ours},
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
        let raised = |error: &mlua::Error| raised(error, &watch, &script.name);
        let made = make(&watch, script, site, headers, thread);
        let (lua, host) = made.map_err(|error| raised(&error))?;
        let name = script.name.clone();
        let state = Self { lua, watch: Arc::clone(&watch), script: name, host };
        let chunk = state.lua.load(script.text.as_slice()).set_name(format!("@{}", script.name));
        chunk.set_mode(mlua::chunk::ChunkMode::Text).exec().map_err(|error| raised(&error))?;
        Ok(state)
    }

    /// One of the host's entry points.
    pub(crate) fn entry(&self, name: &str) -> Result<Function, ScriptError> {
        self.host.get(name).map_err(|error| self.raised(&error))
    }

    /// Calls one of the host's entry points.
    pub(crate) fn call<R: FromLuaMulti>(
        &self,
        call: Call,
        entry: &str,
        arguments: impl IntoLuaMulti,
    ) -> Result<R, ScriptError> {
        self.watch.enter(call);
        self.entry(entry)?.call(arguments).map_err(|error| self.raised(&error))
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

    pub(crate) fn raised(&self, error: &mlua::Error) -> ScriptError {
        raised(error, &self.watch, &self.script)
    }

    pub(crate) fn script(&self) -> &str {
        &self.script
    }
}

/// The error of what ran last.
pub(crate) fn raised(error: &mlua::Error, watch: &Watch, script: &str) -> ScriptError {
    match watch.interruption() {
        Some(why) => ScriptError(why.to_owned()),
        None => ScriptError::raised(error, watch.call().name(), script),
    }
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
    lua.set_global_hook(triggers, move |lua, _| match looking.look(|| place(lua)) {
        None => Ok(VmState::Continue),
        Some(why) => Err(mlua::Error::runtime(why)),
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
    let is_interrupted = lua.create_function(move |_, ()| Ok(looking.interruption().is_some()))?;
    native.set("is_interrupted", is_interrupted)?;
    if let Some(shared) = thread {
        native.set("thread", Handle { shared: Arc::clone(shared), lua: lua.weak() })?;
    }
    let prelude = lua.load(PRELUDE).set_name(format!("={HOST_CHUNK}"));
    let host = prelude.call::<mlua::Table>((about, native))?;
    search_beside(&lua, &script.name)?;
    Ok((lua, host))
}

/// Where the script is: `a.lua:12: `, the innermost line that is its own.
fn place(lua: &Lua) -> String {
    /// Frames looked at.
    const DEPTH_MAX: usize = 50;
    let frame = |level| {
        let place = lua.inspect_stack(level, |debug| {
            let (file, line) = debug.source().short_src.zip(debug.current_line())?;
            Some(format!("{file}:{line}: "))
        });
        place.flatten()
    };
    (0..DEPTH_MAX).filter_map(frame).find(|place| !is_ours(place)).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use sojourn_clock::MILLISECOND_NS;

    use super::*;

    fn try_state(text: &str) -> Result<State, ScriptError> {
        let site = Site::parse("http://127.0.0.1:8080/path?q").unwrap();
        let script = ScriptFile { name: "a.lua".to_owned(), text: text.as_bytes().to_vec() };
        let headers = [("X-A".to_owned(), "b".to_owned())];
        State::new(&script, &site, &headers, None)
    }

    fn state(text: &str) -> State {
        try_state(text).unwrap()
    }

    /// The value of an expression after the host's preparations.
    fn value(expression: &str) -> String {
        let state = state(&format!("function ask() return {expression} end"));
        state.call::<()>(Call::Init, "start", ()).unwrap();
        let ask: Function = state.lua.globals().get("ask").unwrap();
        ask.call::<String>(()).unwrap_or_else(|error| state.raised(&error).0)
    }

    /// A request's lines, sorted: headers have no order.
    fn lines(expression: &str) -> Vec<String> {
        let mut lines: Vec<String> = value(expression).split("\r\n").map(str::to_owned).collect();
        lines[1..].sort();
        lines
    }

    #[test]
    fn requests_are_merged_with_what_wrk_has() {
        let check = |expression: &str, expected: &[&str]| {
            assert_eq!(lines(expression), expected, "{expression}");
        };
        let plain = ["GET /path?q HTTP/1.1", "", "", "Host: 127.0.0.1:8080", "X-A: b"];
        check("wrk.format()", &plain);
        check("wrk.request()", &plain);
        let twice = "(function() wrk.request() wrk.path = '/late' return wrk.request() end)()";
        check(twice, &plain);
        check(
            "wrk.format('POST', '/p', {n = 1, t = true}, 'body')",
            &[
                "POST /p HTTP/1.1",
                "",
                "Content-Length: 4",
                "Host: 127.0.0.1:8080",
                "body",
                "n: 1",
                "t: true",
            ],
        );
        check("wrk.format(nil, nil, {host = 'h'})", &["GET /path?q HTTP/1.1", "", "", "host: h"]);
        check(
            "wrk.format('PUT', '/', {['content-length'] = '99', Host = 'h'}, '')",
            &["PUT / HTTP/1.1", "", "", "Content-Length: 0", "Host: h"],
        );
        let chunked = "wrk.format('PUT', '/', {['Transfer-Encoding'] = 'chunked', Host = 'h'}, \
                       '0\\r\\n\\r\\n')";
        let expected = ["PUT / HTTP/1.1", "", "", "", "0", "Host: h", "Transfer-Encoding: chunked"];
        check(chunked, &expected);
    }

    #[test]
    fn the_callers_tables_stay_as_they_are() {
        let code = "(function() local h = {a = 'b'} wrk.format('POST', '/', h, 'x') \
                    return next(h) .. '=' .. h.a .. tostring(next(h, 'a')) end)()";
        assert_eq!(value(code), "a=bnil");
    }

    #[test]
    fn what_is_no_request_is_blamed_on_its_line() {
        for (expression, what) in [
            ("wrk.format({})", "a.lua:1: wrk.format: method is a table, not a string"),
            ("wrk.format(nil, nil, 'x')", "a.lua:1: wrk.format: headers are a string"),
            ("wrk.format(nil, nil, {'x'})", "a.lua:1: wrk.format: a header's name is a number"),
            ("wrk.format(nil, nil, {x = {}})", "a.lua:1: wrk.format: header x is a table"),
            ("wrk.format(nil, nil, nil, print)", "a.lua:1: wrk.format: body is a function"),
            ("wrk.lookup('no such host', 80)", "a.lua:1: wrk.lookup: unable to resolve"),
            ("wrk.connect('x')", "a.lua:1:"),
        ] {
            let error = value(&format!("(function() local x = {expression} return x end)()"));
            assert!(error.starts_with(what), "{expression}: {error}");
        }
    }

    #[test]
    fn the_table_says_where_the_load_goes() {
        let code = "table.concat({wrk.scheme, wrk.host, wrk.port, wrk.path, wrk.method, \
                    tostring(wrk.body), tostring(wrk.thread)}, ' ')";
        assert_eq!(value(code), "http 127.0.0.1 8080 /path?q GET nil nil");
        assert_eq!(value("tostring(wrk.lookup('127.0.0.1', 'http')[1])"), "127.0.0.1:80");
        assert_eq!(value("tostring((wrk.init({})))"), "nil");
    }

    /// What a script sees of an answer's headers, by way of `code`.
    fn seen(code: &str) -> String {
        let state = state(&format!("function response(status, headers, body) {code} end"));
        let head = "HTTP/1.1 200 a: b\r\nX-Token: abc \r\nEmpty:\r\nX-Dup: 1\r\nX-Dup:\t2\r\n\
                    Time: 12:30\r\n\r\n";
        let response = state.entry("response").unwrap();
        response.call::<()>((200, head, "body")).unwrap();
        state.lua.globals().get::<String>("result").unwrap()
    }

    #[test]
    fn headers_of_an_answer_are_a_table_whichever_way_it_is_read() {
        let one = |name: &str| seen(&format!("result = tostring(headers['{name}'])"));
        assert_eq!(one("X-Token"), "abc");
        assert_eq!(one("Empty"), "");
        assert_eq!(one("X-Dup"), "2");
        assert_eq!(one("Time"), "12:30");
        // As sent, and nothing else.
        for name in ["x-token", "HTTP/1.1 200 a", "Token", ""] {
            assert_eq!(one(name), "nil", "{name}");
        }
        let all = "Empty=;Time=12:30;X-Dup=2;X-Token=abc;";
        let walk = |walk: &str| {
            seen(&format!(
                "local t = {{}} {walk} table.sort(t) result = table.concat(t, ';') .. ';'"
            ))
        };
        assert_eq!(walk("for k, v in pairs(headers) do t[#t + 1] = k .. '=' .. v end"), all);
        assert_eq!(walk("for k, v in next, headers do t[#t + 1] = k .. '=' .. v end"), all);
        let by_hand = "local k, v = next(headers) while k do t[#t + 1] = k .. '=' .. v \
                       k, v = next(headers, k) end";
        assert_eq!(walk(by_hand), all);
        assert_eq!(seen("result = rawget(headers, 'X-Token')"), "abc");
        assert_eq!(seen("headers.new = 1 result = headers.new .. headers.Time"), "112:30");
        assert_eq!(seen("result = tostring(headers[1]) .. #headers"), "nil0");
        // Kept for later, it is still that answer's.
        assert_eq!(seen("kept = headers for k in pairs(kept) do end result = kept.Time"), "12:30");
    }

    #[test]
    fn a_loop_without_an_end_is_interrupted_even_if_it_catches_everything() {
        let endless = "while true do end";
        for code in [
            endless.to_owned(),
            format!("while true do pcall(function() {endless} end) end"),
            format!("while true do xpcall(function() {endless} end, function() end) end"),
            format!("local c = coroutine.wrap(function() {endless} end) while true do c() end"),
            format!(
                "while true do coroutine.resume(coroutine.create(function() {endless} end)) end"
            ),
            "local function f() return f() end f()".to_owned(),
            "jit.on() local x = 0 while true do x = x + 1 end".to_owned(),
            "string.gsub(('x'):rep(100), 'x', function() while true do end end)".to_owned(),
            "table.sort({1, 2, 3}, function() while true do end end)".to_owned(),
            "while true do wrk.format() end".to_owned(),
        ] {
            let state = state(&format!("function request()\n{code}\nend"));
            state.watch.limit(20 * MILLISECOND_NS);
            let error = state.call::<String>(Call::Request, "request", ()).unwrap_err().0;
            assert!(error.starts_with("a.lua:2: request() has run for"), "{code}: {error}");
            assert!(error.ends_with("an endless loop?"), "{code}: {error}");
        }
    }

    #[test]
    fn memory_is_bounded() {
        for code in [
            "local t = {} while true do t[#t + 1] = ('x'):rep(1e6) .. #t end",
            "local s = 'x' while true do s = s .. s end",
            "local t = {} for i = 1, 1e9 do t[i] = {} end",
            "local t = {} while true do t = {t} end",
        ] {
            let error = try_state(code).map(drop).unwrap_err().0;
            let what = "more than 512 MB of Lua memory";
            assert!(error.starts_with("a.lua") && error.contains(what), "{code}: {error}");
        }
    }

    #[test]
    fn whatever_goes_wrong_is_an_error_with_its_place() {
        for (code, what) in [
            ("x = ", "a.lua:1: unexpected symbol near"),
            ("\nlocal x = nil + 1", "a.lua:2: attempt to perform arithmetic on a nil value"),
            ("error('mine')", "a.lua:1: mine"),
            ("error('bare', 0)", "a.lua:1: bare"),
            ("error({})", "a.lua:1: "),
            ("error()", "a.lua:1: "),
            ("local function f() return 1 + f() end f()", "stack overflow"),
            ("require 'nothing'", "a.lua:1: module 'nothing' not found"),
            ("require 'ffi'", "a.lua:1: module 'ffi' not found"),
            ("\u{1b}LJ\u{2}", "a.lua"),
            ("coroutine.wrap(function() error('in') end)()", "a.lua:1: in"),
        ] {
            let error = try_state(code).map(drop).unwrap_err().0;
            assert!(error.starts_with("a.lua") && error.contains(what), "{code}: {error}");
        }
        let error = state("setup = 1").has("setup").unwrap_err().0;
        assert_eq!(error, "a.lua: the script: setup is a number, not a function");
    }
}
