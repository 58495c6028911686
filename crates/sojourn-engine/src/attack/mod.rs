//! An attack beside its plan: where its requests come from and where its results go.

mod merge;
pub(crate) mod room;
mod script;
mod sink;

use std::sync::Arc;

use crossbeam_channel::Receiver;
use sojourn_plan::Target;

pub(crate) use merge::{Chunk, Record};
pub use script::{Framing, Look, Script, Scripted, ScriptedThread, Wants};
pub(crate) use sink::Passed;
pub use sink::{ResultSink, ResultWriter, Written};

/// What the generators of an attack need besides its plan.
#[derive(Clone, Debug)]
pub struct Attack {
    /// Name, sent with every request and stored in every result; may be empty.
    pub name: String,
    /// What is hit.
    pub targets: Targets,
    /// Most hits in flight at once, over all generators. A due one beyond it waits, which is lag;
    /// one that no worker has taken up when the load ends is missed.
    pub workers_max: u32,
    /// Most redirects followed; `None`: a redirect is a success like any other.
    pub redirects_max: Option<u32>,
    /// Hosts that redirects may go to besides the targets' own.
    pub allowed_hosts: Vec<String>,
    /// Most body bytes kept in a result; `None`: all.
    pub body_max: Option<usize>,
    /// Send bodies in chunks.
    pub chunked: bool,
    /// Where results go; `None`: nowhere, only figures are kept.
    pub results: Option<ResultSink>,
    /// Wait for answers beyond the plan's timeout: they count, as late, and the figures of answers
    /// are kept that [`sojourn_metrics::names`] calls `answer`. A hit is given up when the timeout
    /// has passed after the end of the load.
    pub patient: bool,
}

/// Where an attack's requests come from.
#[derive(Clone, Debug)]
pub enum Targets {
    /// Hit k goes to target k modulo their number. Never empty.
    Listed(Arc<[Target]>),
    /// Each hit takes the next one; the attack ends with the stream.
    Stream(Receiver<Target>),
    /// Every generator thread has its own way of making requests to one target.
    Scripted(Scripted),
}
