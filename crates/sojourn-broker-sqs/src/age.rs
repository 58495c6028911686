//! How old the oldest message of a queue is: CloudWatch knows it, SQS itself does not.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use sojourn_broker::{BrokerError, Figure, Reading};
use sojourn_clock::{SECOND_NS, now_ns};

use crate::api::Api;
use crate::queue::name_of;
use crate::sns::{element, form};

/// What a name of a backlog begins with when the age of a queue's oldest message is asked for. No
/// queue's own name has a colon.
pub(crate) const PREFIX: &str = "cloudwatch:";
/// The version of CloudWatch's Query protocol.
const VERSION: &str = "2010-08-01";
/// SQS tells CloudWatch once a minute: asking more often costs and shows nothing.
const EVERY_NS: u64 = 15 * SECOND_NS;
/// How long ago the latest figure may be of: it comes some minutes late.
const WITHIN: SignedDuration = SignedDuration::from_mins(10);

/// One queue, as CloudWatch knows it.
pub(crate) struct Age {
    name: String,
    /// The latest figure, milliseconds.
    known_ms: Option<f64>,
    asked_ns: Option<u64>,
}

impl Age {
    /// Of a queue, by name or URL.
    pub(crate) fn new(name_or_url: &str) -> Self {
        Self { name: name_of(name_or_url).to_owned(), known_ms: None, asked_ns: None }
    }

    /// Tells the latest figure, asking for it if it may be another by now. A queue without a figure
    /// tells none: an age that is not known is not 0. Errs when CloudWatch cannot be asked, and
    /// when it has still no figure after the first asking.
    pub(crate) fn read(
        &mut self,
        api: &mut Api,
        timeout: Duration,
        readings: &mut Vec<Reading>,
    ) -> Result<(), BrokerError> {
        if self.asked_ns.is_none_or(|asked_ns| now_ns() >= asked_ns + EVERY_NS) {
            let is_first = self.asked_ns.replace(now_ns()).is_none();
            self.known_ms = None;
            self.known_ms = self.ask(api, timeout)?;
            if self.known_ms.is_none() && !is_first {
                let place = api.settings.place();
                let message = format!("{place}: no age of queue `{}` in 10 minutes", self.name);
                return Err(BrokerError::new(message)
                    .with_hint("SQS tells CloudWatch nothing of a queue that nobody uses"));
            }
        }
        readings.extend(self.known_ms.map(|value| Reading {
            of: self.name.clone(),
            figure: Figure::OldestAgeMs,
            value,
        }));
        Ok(())
    }

    fn ask(&self, api: &mut Api, timeout: Duration) -> Result<Option<f64>, BrokerError> {
        let now = Timestamp::now();
        let second = |at: Timestamp| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let pairs = [
            ("Action", "GetMetricStatistics".to_owned()),
            ("Namespace", "AWS/SQS".to_owned()),
            ("MetricName", "ApproximateAgeOfOldestMessage".to_owned()),
            ("Dimensions.member.1.Name", "QueueName".to_owned()),
            ("Dimensions.member.1.Value", self.name.clone()),
            ("StartTime", second(now - WITHIN)),
            ("EndTime", second(now)),
            ("Period", "60".to_owned()),
            ("Statistics.member.1", "Maximum".to_owned()),
        ];
        let answer = api.exchange("", form(VERSION, &pairs).as_bytes(), timeout);
        let what = format!("the age of queue `{}`", self.name);
        let answer = answer.map_err(|error| api.error(&what, &error))?;
        latest_ms(&String::from_utf8_lossy(&answer)).map_err(|error| {
            BrokerError::new(format!("{}: {what}: {error}", api.settings.place()))
                .with_hint("does the endpoint speak CloudWatch's Query protocol?")
        })
    }
}

/// The greatest age of the latest minute, milliseconds. Minutes come in any order.
fn latest_ms(answer: &str) -> Result<Option<f64>, &'static str> {
    if element(answer, "GetMetricStatisticsResult").is_none() {
        return Err("this is no answer of CloudWatch");
    }
    let datapoints = element(answer, "Datapoints").unwrap_or_default();
    let mut latest: Option<(Timestamp, f64)> = None;
    for member in datapoints.split("<member>").skip(1) {
        let at = element(member, "Timestamp").and_then(|text| text.parse::<Timestamp>().ok());
        let seconds = element(member, "Maximum").and_then(|text| text.parse::<f64>().ok());
        let (Some(at), Some(seconds)) = (at, seconds) else {
            return Err("a datapoint without its time or its maximum");
        };
        if latest.is_none_or(|(known, _)| known < at) {
            latest = Some((at, seconds));
        }
    }
    Ok(latest.map(|(_, seconds)| seconds * 1_000.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_minute_counts_and_none_is_not_zero() {
        let answer = |inside: &str| {
            format!(
                "<GetMetricStatisticsResponse><GetMetricStatisticsResult>{inside}\
                 <Label>ApproximateAgeOfOldestMessage</Label></GetMetricStatisticsResult>\
                 </GetMetricStatisticsResponse>"
            )
        };
        let of = |at: &str, maximum: &str| {
            format!(
                "<member><Timestamp>{at}</Timestamp><Unit>Seconds</Unit>\
                 <Maximum>{maximum}</Maximum></member>"
            )
        };
        let (old, new) = (of("2026-01-02T03:04:00Z", "7.0"), of("2026-01-02T03:05:00Z", "67"));
        let both = answer(&format!("<Datapoints>{new}{old}</Datapoints>"));
        assert_eq!(latest_ms(&both), Ok(Some(67_000.0)));
        assert_eq!(latest_ms(&answer("<Datapoints/>")), Ok(None));
        assert!(latest_ms("{}").is_err());
        let spoilt = of("2026-01-02T03:04:00Z", "x");
        assert!(latest_ms(&answer(&format!("<Datapoints>{spoilt}</Datapoints>"))).is_err());
    }
}
