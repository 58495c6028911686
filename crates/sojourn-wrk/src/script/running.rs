//! A script under load: the engine's questions, put to a Lua state.

use std::sync::{Arc, Mutex, PoisonError};

use mlua::{Function, Lua, Value};
use sojourn_engine::{Framing, Look, Script, Wants};
use sojourn_http::Response;

use super::{
    handle::Shared,
    state::{State, raised},
    watch::{Call, Watch},
};
use crate::{ScriptError, message::framing};

/// Longest body that a script is shown, bytes; a longer one is a read error.
const BODY_BYTES_MAX: usize = 64 << 20;
/// Longest delay, milliseconds: a day.
const DELAY_MS_MAX: f64 = 86_400_000.0;

/// The first error of any thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct FirstError(Arc<Mutex<Option<ScriptError>>>);

impl FirstError {
    fn set(&self, error: &ScriptError) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| error.clone());
    }

    pub(crate) fn get(&self) -> Option<ScriptError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One thread's script.
pub(crate) struct Running {
    /// Also keeps the state alive.
    lua: Lua,
    watch: Arc<Watch>,
    shared: Arc<Shared>,
    script: String,
    wants: Wants,
    request: Function,
    delay: Function,
    status: Function,
    response: Function,
    /// The last message and what it consists of: most scripts make the same again, or a like one.
    last: Option<(Vec<u8>, Framing)>,
    error: FirstError,
}

impl Running {
    /// `None` where the script has nothing to say under load.
    pub(crate) fn new(
        state: &State,
        shared: &Arc<Shared>,
        error: &FirstError,
    ) -> Result<Option<Self>, ScriptError> {
        let response = match state.has("response")? {
            false => None,
            true if state.call(Call::File, "looks", ())? => {
                Some(Look::Whole { body_bytes_max: BODY_BYTES_MAX })
            }
            true => Some(Look::Status),
        };
        let wants = Wants { request: state.has("request")?, delay: state.has("delay")?, response };
        if wants == Wants::default() {
            return Ok(None);
        }
        Ok(Some(Self {
            lua: state.lua.clone(),
            watch: Arc::clone(&state.watch),
            shared: Arc::clone(shared),
            script: state.script().to_owned(),
            wants,
            request: state.entry("request")?,
            delay: state.entry("delay")?,
            status: state.entry("status")?,
            response: state.entry("response")?,
            last: None,
            error: error.clone(),
        }))
    }

    fn failed(&self, error: ScriptError) -> String {
        self.error.set(&error);
        error.0
    }

    fn raised(&self, error: &mlua::Error) -> String {
        self.failed(raised(error, &self.watch, &self.script))
    }

    fn wrong(&self, call: Call, what: &str) -> String {
        self.failed(ScriptError(format!("{}: {} {what}", self.script, call.name())))
    }
}

impl Script for Running {
    fn wants(&self) -> Wants {
        self.wants
    }

    fn request(&mut self, message: &mut Vec<u8>) -> Result<Framing, String> {
        self.watch.enter(Call::Request);
        let made = self.request.call::<Value>(());
        let made = made.map_err(|error| self.raised(&error))?;
        let Value::String(text) = &made else {
            let what = format!("returned a {}, not the bytes of a request", made.type_name());
            return Err(self.wrong(Call::Request, &what));
        };
        message.extend_from_slice(&text.as_bytes());
        if let Some((last, framing)) = &self.last
            && last == message
        {
            return Ok(*framing);
        }
        let framing = framing(message).map_err(|why| self.wrong(Call::Request, &why))?;
        let (last, _) = self.last.get_or_insert_with(|| (Vec::new(), framing));
        last.clone_from(message);
        self.last = self.last.take().map(|(last, _)| (last, framing));
        Ok(framing)
    }

    fn delay_ns(&mut self) -> Result<u64, String> {
        self.watch.enter(Call::Delay);
        let delay = self.delay.call::<Value>(());
        let delay_ms = match delay.map_err(|error| self.raised(&error))? {
            Value::Nil => 0.0,
            Value::Integer(number) => number as f64,
            Value::Number(number) => number,
            other => {
                let what = format!("returned a {}, not milliseconds", other.type_name());
                return Err(self.wrong(Call::Delay, &what));
            }
        };
        if delay_ms.is_nan() || delay_ms > DELAY_MS_MAX {
            return Err(self.wrong(Call::Delay, &format!("returned {delay_ms} milliseconds")));
        }
        Ok((delay_ms.max(0.0) * 1e6) as u64)
    }

    fn response(&mut self, response: &Response) -> Result<(), String> {
        self.watch.enter(Call::Response);
        let called = match self.wants.response {
            Some(Look::Status) => self.status.call::<()>(response.status),
            _ => {
                let text = |bytes: &[u8]| self.lua.create_string(bytes);
                text(&response.head).and_then(|head| {
                    self.response.call::<()>((response.status, head, text(&response.body)?))
                })
            }
        };
        called.map_err(|error| self.raised(&error))
    }

    fn is_stopped(&self) -> bool {
        self.shared.is_stopped()
    }
}
