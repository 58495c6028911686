//! A generator's side of a script: what it is asked, and when.

use sojourn_http::{BodyPolicy, Response};

use crate::attack::{Attack, Framing, Look, Script, Targets, Wants};

/// The script of one generator.
pub(super) struct Scripted {
    script: Box<dyn Script>,
    wants: Wants,
    /// The workers before this one have been put off by their first delay.
    put_off_before: u32,
}

impl Scripted {
    /// `None` where nothing is to be asked.
    pub(super) fn new(script: Box<dyn Script>) -> Option<Self> {
        let wants = script.wants();
        (wants != Wants::default()).then_some(Self { script, wants, put_off_before: 0 })
    }

    /// How much of answers is kept for it.
    pub(super) fn body_policy(&self) -> BodyPolicy {
        match self.wants.response {
            None | Some(Look::Status) => BodyPolicy::Discard,
            Some(Look::Head) => BodyPolicy::Truncate { bytes_max: 0 },
            Some(Look::Whole { body_bytes_max }) => BodyPolicy::Keep { bytes_max: body_bytes_max },
        }
    }

    /// Makes the next message into an empty buffer; `None`: it is the target's own.
    pub(super) fn message(&mut self, message: &mut Vec<u8>) -> Result<Option<Framing>, String> {
        if !self.wants.request {
            return Ok(None);
        }
        let framing = self.script.request(message)?;
        if message.is_empty() || framing.requests == 0 {
            return Err("the script made an empty request".to_owned());
        }
        Ok(Some(framing))
    }

    /// By how much the first request of this worker is put off, nanoseconds; asked once for each.
    /// Workers come in ascending order.
    pub(super) fn first_delay_ns(&mut self, worker: u32) -> Result<Option<u64>, String> {
        if !self.wants.delay || worker < self.put_off_before {
            return Ok(None);
        }
        self.put_off_before = worker + 1;
        self.script.delay_ns().map(Some)
    }

    /// How long a worker waits before its next request, nanoseconds.
    pub(super) fn delay_ns(&mut self) -> Result<u64, String> {
        if self.wants.delay { self.script.delay_ns() } else { Ok(0) }
    }

    /// Shows it an answer.
    pub(super) fn response(&mut self, response: &Response) -> Result<(), String> {
        if self.wants.response.is_some() { self.script.response(response) } else { Ok(()) }
    }

    /// It wants no further requests.
    pub(super) fn is_stopped(&self) -> bool {
        self.script.is_stopped()
    }
}

/// How requests are made elsewhere.
#[derive(Default)]
pub(super) struct Made {
    pub(super) message: Vec<u8>,
    pub(super) framing: Option<Framing>,
    pub(super) scripted: Option<Scripted>,
}

/// Takes what a script has prepared for this generator.
pub(super) fn made_elsewhere(attack: &Attack, index: u32) -> Result<Made, String> {
    let Targets::Scripted(scripted) = &attack.targets else {
        return Ok(Made::default());
    };
    let thread =
        scripted.take(index).ok_or_else(|| format!("generator {index} has no requests to make"))?;
    Ok(Made {
        message: thread.message,
        framing: Some(thread.framing),
        scripted: thread.script.and_then(Scripted::new),
    })
}
