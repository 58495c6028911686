//! Options from variables `K6_…`.

use std::collections::BTreeMap;

use crate::options::{Options, OptionsError, Table, Tier};

/// Environment variables, by name.
pub type Environment = BTreeMap<String, String>;

/// Variables and the options that they give.
const VARIABLES: &[(&str, &str)] = &[
    ("K6_PAUSED", "paused"),
    ("K6_VUS", "vus"),
    ("K6_DURATION", "duration"),
    ("K6_ITERATIONS", "iterations"),
    ("K6_STAGES", "stages"),
    ("K6_NO_SETUP", "noSetup"),
    ("K6_SETUP_TIMEOUT", "setupTimeout"),
    ("K6_NO_TEARDOWN", "noTeardown"),
    ("K6_TEARDOWN_TIMEOUT", "teardownTimeout"),
    ("K6_HANDLE_SUMMARY_TIMEOUT", "handleSummaryTimeout"),
    ("K6_RPS", "rps"),
    ("K6_DNS", "dns"),
    ("K6_MAX_REDIRECTS", "maxRedirects"),
    ("K6_USER_AGENT", "userAgent"),
    ("K6_BATCH", "batch"),
    ("K6_BATCH_PER_HOST", "batchPerHost"),
    ("K6_HTTP_DEBUG", "httpDebug"),
    ("K6_INSECURE_SKIP_TLS_VERIFY", "insecureSkipTLSVerify"),
    ("K6_THROW", "throw"),
    ("K6_BLACKLIST_IPS", "blacklistIPs"),
    ("K6_BLOCK_HOSTNAMES", "blockHostnames"),
    ("K6_NO_CONNECTION_REUSE", "noConnectionReuse"),
    ("K6_NO_VU_CONNECTION_REUSE", "noVUConnectionReuse"),
    ("K6_MIN_ITERATION_DURATION", "minIterationDuration"),
    ("K6_SUMMARY_TREND_STATS", "summaryTrendStats"),
    ("K6_SUMMARY_TIME_UNIT", "summaryTimeUnit"),
    ("K6_SYSTEM_TAGS", "systemTags"),
    ("K6_TAGS", "tags"),
    ("K6_METRIC_SAMPLES_BUFFER_SIZE", "metricSamplesBufferSize"),
    ("K6_NO_COOKIES_RESET", "noCookiesReset"),
    ("K6_DISCARD_RESPONSE_BODIES", "discardResponseBodies"),
    ("K6_CONSOLE_OUTPUT", "consoleOutput"),
    ("K6_LOCAL_IPS", "localIPs"),
];

impl Options {
    /// Reads variables. An empty variable gives nothing.
    ///
    /// # Errors
    /// A variable whose text is not of its option's form.
    pub fn from_environment(environment: &Environment) -> Result<Self, OptionsError> {
        let mut options = Self::default();
        for (variable, key) in VARIABLES {
            let Some(text) = environment.get(*variable).filter(|text| !text.is_empty()) else {
                continue;
            };
            let read = options.read_text(key, text);
            read.map_err(|wrong| wrong.at(Tier::Environment, variable))?;
        }
        Ok(options)
    }
}
