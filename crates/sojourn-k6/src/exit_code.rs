//! What the process ends with: k6's exit codes.

/// Why a run ended, as k6's exit code says it. Numbers are part of what users' pipelines know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ExitCode {
    /// All is well.
    Success = 0,
    /// A run in Grafana's cloud failed.
    CloudRunFailed = 97,
    /// The progress of a run in Grafana's cloud could not be told.
    CloudProgressLost = 98,
    /// A threshold failed, at the end or (with `abortOnFail`) before.
    ThresholdsFailed = 99,
    /// `setup()` did not end within `setupTimeout`.
    SetupTimeout = 100,
    /// `teardown()` did not end within `teardownTimeout`.
    TeardownTimeout = 101,
    /// Something else did not end within its time.
    GenericTimeout = 102,
    /// Stopped through the REST interface.
    StoppedByRest = 103,
    /// Options, flags or thresholds are wrong, or an exported function is missing.
    InvalidConfig = 104,
    /// A signal ended it.
    ExternalAbort = 105,
    /// The REST interface could not listen.
    CannotStartRest = 106,
    /// The script threw outside iterations: while it loaded, in `setup()` or in `teardown()`.
    ScriptException = 107,
    /// The script called `exec.test.abort()`.
    ScriptAborted = 108,
    /// The load generator itself broke.
    Panic = 109,
    /// The script called `exec.test.fail()`.
    MarkedAsFailed = 110,
}

impl ExitCode {
    /// The number that the process ends with.
    pub fn code(self) -> u8 {
        self as u8
    }
}
