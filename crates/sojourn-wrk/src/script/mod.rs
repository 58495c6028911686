//! The script's life: loaded once for the whole load and once for each thread, set up, run, done.

mod address;
mod handle;
mod running;
mod site;
mod state;
mod statistics;
mod transfer;
mod watch;

use std::sync::Arc;

use sojourn_engine::{Framing, Script, Scripted, ScriptedThread};
use sojourn_http::write_request;

use crate::{Figures, ScriptError, message::framing};
use handle::{Handle, Shared};
use running::{FirstError, Running};
pub use site::Site;
pub use state::ScriptFile;
use state::State;
use statistics::Statistics;
use watch::Call;

/// What a load sends, with or without a script.
pub struct Host {
    site: Site,
    headers: Vec<(String, String)>,
    /// Where `setup` and `done` run.
    main: Option<State>,
    threads: Vec<Thread>,
    error: FirstError,
}

/// One generator thread.
struct Thread {
    shared: Arc<Shared>,
    state: Option<State>,
}

impl Host {
    /// Finds an address of the site that can be connected to, and runs the script's file in a state
    /// for each thread and in one for `setup` and `done`.
    pub fn new(
        site: Site,
        headers: Vec<(String, String)>,
        script: Option<&ScriptFile>,
        threads: u32,
    ) -> Result<Self, ScriptError> {
        let address = reachable(&site)?;
        let state = |thread: Option<&Arc<Shared>>| {
            script.map(|script| State::new(script, &site, &headers, thread)).transpose()
        };
        let main = state(None)?;
        let made: Result<Vec<Thread>, ScriptError> = (0..threads)
            .map(|_| {
                let shared = Shared::new(address);
                Ok(Thread { state: state(Some(&shared))?, shared })
            })
            .collect();
        let threads = made?;
        Ok(Self { site, headers, main, threads, error: FirstError::default() })
    }

    /// Runs `setup` for each thread, then each thread's `init` with the words of the command line.
    pub fn prepare(&self, arguments: &[String]) -> Result<(), ScriptError> {
        if let Some(main) = &self.main
            && main.has("setup")?
        {
            for thread in &self.threads {
                let Some(state) = &thread.state else { continue };
                let handle = Handle { shared: Arc::clone(&thread.shared), lua: state.lua.weak() };
                main.call::<()>(Call::Setup, "setup", handle)?;
            }
        }
        for state in self.threads.iter().filter_map(|thread| thread.state.as_ref()) {
            let words = state.lua.create_table();
            let words = words.and_then(|words| {
                words.set(0, self.site.url.as_str())?;
                for (place, word) in (1..).zip(arguments) {
                    words.set(place, word.as_str())?;
                }
                Ok(words)
            });
            let words = words.map_err(|error| state.raised(&error))?;
            state.call::<()>(Call::Init, "start", words)?;
        }
        self.flush();
        Ok(())
    }

    /// The requests of every thread, for the engine.
    pub fn requests(&self) -> Result<Scripted, ScriptError> {
        let threads: Result<Vec<_>, ScriptError> =
            self.threads.iter().map(|thread| self.thread(thread)).collect();
        Ok(Scripted::new(self.site.target.clone(), threads?))
    }

    fn thread(&self, thread: &Thread) -> Result<ScriptedThread, ScriptError> {
        let running = match &thread.state {
            None => None,
            Some(state) => Running::new(state, &thread.shared, &self.error)?,
        };
        let makes_requests = running.as_ref().is_some_and(|running| running.wants().request);
        let (message, framing) = match &thread.state {
            _ if makes_requests => (Vec::new(), Framing { requests: 1, head_only: false }),
            Some(state) => {
                let text: mlua::LuaString = state.call(Call::Request, "fixed", ())?;
                checked(text.as_bytes().to_vec())?
            }
            None => checked(self.plain()?)?,
        };
        Ok(ScriptedThread {
            address: Some(thread.shared.address()),
            message,
            framing,
            script: running.map(|running| Box::new(running) as Box<dyn Script>),
        })
    }

    /// The request without a script.
    fn plain(&self) -> Result<Vec<u8>, ScriptError> {
        let mut message = Vec::new();
        let host = self.site.authority();
        write_request("GET", &self.site.path, &host, &self.headers, b"", &mut message)
            .map_err(|error| ScriptError(error.to_string()))?;
        Ok(message)
    }

    /// What the script was interrupted by under load.
    pub fn error(&self) -> Option<ScriptError> {
        self.error.get()
    }

    /// Runs `done` with the figures of the load.
    pub fn done(&self, figures: &Figures) -> Result<(), ScriptError> {
        let Some(main) = &self.main else { return Ok(()) };
        self.flush();
        if main.has("done")? {
            let summary = summary(&main.lua, figures);
            let summary = summary.map_err(|error| main.raised(&error))?;
            let latency = Statistics::of_latencies(&figures.latency);
            let requests = Statistics::of_numbers(&figures.per_second);
            main.call::<()>(Call::Done, "done", (summary, latency, requests))?;
        }
        self.flush();
        Ok(())
    }

    fn flush(&self) {
        if let Some(main) = &self.main {
            // The states of a process share one standard output.
            main.flush();
        }
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Host")
            .field("site", &self.site)
            .field("threads", &self.threads.len())
            .finish_non_exhaustive()
    }
}

/// The first of the site's addresses that can be connected to.
fn reachable(site: &Site) -> Result<std::net::SocketAddr, ScriptError> {
    let port = site.target.port.to_string();
    let addresses = address::look_up(&site.host, &port).map_err(ScriptError)?;
    let mut last = None;
    for address in addresses {
        match address::connect(address) {
            Ok(()) => return Ok(address),
            Err(error) => last = Some(plain(&error)),
        }
    }
    let why = last.unwrap_or_else(|| "no address".to_owned());
    Err(ScriptError(format!("unable to connect to {}:{port} {why}", site.host)))
}

/// The kernel's words without its number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

fn checked(message: Vec<u8>) -> Result<(Vec<u8>, Framing), ScriptError> {
    let framing = framing(&message)
        .map_err(|why| ScriptError(format!("the request that wrk.* describes: {why}")))?;
    Ok((message, framing))
}

fn summary(lua: &mlua::Lua, figures: &Figures) -> mlua::Result<mlua::Table> {
    let errors = lua.create_table()?;
    errors.set("connect", figures.errors.connect as f64)?;
    errors.set("read", figures.errors.read as f64)?;
    errors.set("write", figures.errors.write as f64)?;
    errors.set("status", figures.errors.status as f64)?;
    errors.set("timeout", figures.errors.timeout as f64)?;
    let summary = lua.create_table()?;
    summary.set("duration", (figures.duration_ns / 1_000) as f64)?;
    summary.set("requests", figures.requests as f64)?;
    summary.set("bytes", figures.bytes as f64)?;
    summary.set("errors", errors)?;
    Ok(summary)
}
