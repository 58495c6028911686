//! Flags as a tier of options.

use crate::{
    duration::Nanos,
    flags::RunFlags,
    options::{Options, OptionsError, Table, Tags, Tier, Wrong, name_and_value},
};

impl RunFlags {
    /// The strongest tier of options.
    ///
    /// # Errors
    /// A value that is not of its flag's form, with both.
    pub fn options(&self) -> Result<Options, OptionsError> {
        let mut options = self.switches();
        for (flag, key, text) in self.texts() {
            let Some(text) = text else { continue };
            options.read_text(key, text).map_err(|wrong| wrong.at(Tier::Flags, flag))?;
        }
        // Flags take neither days nor bare numbers, unlike options.
        for (flag, text) in [
            ("--duration", &self.duration),
            ("--min-iteration-duration", &self.min_iteration_duration),
        ] {
            if let Some(Err(error)) = text.as_deref().map(Nanos::parse_go) {
                return Err(Wrong::new(error.to_string()).at(Tier::Flags, flag));
            }
        }
        for (flag, key, words) in self.lists() {
            if !words.is_empty() {
                let joined = words.join(",");
                options.read_text(key, &joined).map_err(|wrong| wrong.at(Tier::Flags, flag))?;
            }
        }
        if let Some(unit) = &options.summary_time_unit
            && !["s", "ms", "us"].contains(&unit.as_str())
        {
            let wrong = Wrong::new(format!("`{unit}` is none of s, ms and us"));
            return Err(wrong.at(Tier::Flags, "--summary-time-unit"));
        }
        if !self.tags.is_empty() {
            let tags: Result<Tags, _> = self.tags.iter().map(|text| tag(text)).collect();
            options.tags = Some(tags.map_err(|wrong| wrong.at(Tier::Flags, "--tag"))?);
        }
        Ok(options)
    }

    fn switches(&self) -> Options {
        Options {
            paused: self.paused,
            throw: self.throw,
            no_setup: self.no_setup,
            no_teardown: self.no_teardown,
            discard_response_bodies: self.discard_response_bodies,
            insecure_skip_tls_verify: self.insecure_skip_tls_verify,
            no_connection_reuse: self.no_connection_reuse,
            no_vu_connection_reuse: self.no_vu_connection_reuse,
            ..Options::default()
        }
    }

    /// Flags with one value: flag, key of the option, value.
    fn texts(&self) -> [(&'static str, &'static str, Option<&str>); 16] {
        [
            ("--vus", "vus", self.vus.as_deref()),
            ("--duration", "duration", self.duration.as_deref()),
            ("--iterations", "iterations", self.iterations.as_deref()),
            ("--summary-time-unit", "summaryTimeUnit", self.summary_time_unit.as_deref()),
            ("--http-debug", "httpDebug", self.http_debug.as_deref()),
            ("--batch", "batch", self.batch.as_deref()),
            ("--batch-per-host", "batchPerHost", self.batch_per_host.as_deref()),
            ("--rps", "rps", self.rps.as_deref()),
            ("--user-agent", "userAgent", self.user_agent.as_deref()),
            ("--max-redirects", "maxRedirects", self.max_redirects.as_deref()),
            ("--local-ips", "localIPs", self.local_ips.as_deref()),
            ("--dns", "dns", self.dns.as_deref()),
            ("--execution-segment", "executionSegment", self.execution_segment.as_deref()),
            (
                "--execution-segment-sequence",
                "executionSegmentSequence",
                self.execution_segment_sequence.as_deref(),
            ),
            (
                "--min-iteration-duration",
                "minIterationDuration",
                self.min_iteration_duration.as_deref(),
            ),
            ("--console-output", "consoleOutput", self.console_output.as_deref()),
        ]
    }

    /// Flags that may be given several times, with values between commas too.
    fn lists(&self) -> [(&'static str, &'static str, &[String]); 5] {
        [
            ("--stage", "stages", &self.stages),
            ("--summary-trend-stats", "summaryTrendStats", &self.summary_trend_stats),
            ("--system-tags", "systemTags", &self.system_tags),
            ("--blacklist-ip", "blacklistIPs", &self.blacklist_ip),
            ("--block-hostnames", "blockHostnames", &self.block_hostnames),
        ]
    }
}

/// `name=value`, both there.
fn tag(text: &str) -> Result<(String, String), Wrong> {
    let (name, value) = name_and_value(text)?;
    match value.is_empty() {
        true => Err(Wrong::new(format!("`{text}` has no value"))),
        false => Ok((name, value)),
    }
}
