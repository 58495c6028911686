//! Figures of answers, for attacks that are patient: late answers count, and each whole second is a
//! sample of the rate.

use sojourn_clock::SECOND_NS;
use sojourn_http::{Completion, FailureKind};
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, names};

use super::Hit;

/// The figures of one generator.
pub(super) struct Answers {
    response: SeriesId,
    service: SeriesId,
    per_second: SeriesId,
    late: SeriesId,
    unsent: SeriesId,
    own_lag: SeriesId,
    waited: SeriesId,
    until_s: SeriesId,
    timeout_ns: u64,
    start_ns: u64,
    load_end_ns: u64,
    /// When the present second ends, and the answers in it so far.
    second_end_ns: u64,
    in_second: u64,
    seconds: u64,
    last_end_ns: u64,
    /// When a worker was last freed while all were at work.
    freed_ns: u64,
}

impl Answers {
    pub(super) fn new(
        generator: u32,
        start_ns: u64,
        load_end_ns: u64,
        timeout_ns: u64,
        recorder: &mut Recorder,
    ) -> Self {
        let mut series = |kind, name: &str| {
            recorder.series(kind, SeriesKey::new(name, &[], SeriesPhase::Steady))
        };
        let (trend, counter) = (Kind::Trend, Kind::Counter);
        Self {
            response: series(trend, names::ANSWER_RESPONSE),
            service: series(trend, names::ANSWER_SERVICE),
            per_second: series(trend, names::ANSWERS_PER_SECOND),
            late: series(counter, names::ANSWERS_LATE),
            unsent: series(counter, names::ANSWERS_UNSENT),
            own_lag: series(trend, names::ANSWER_OWN_LAG),
            waited: series(counter, names::ANSWERS_WAITED),
            until_s: {
                let tags = [(names::GENERATOR, &*generator.to_string())];
                let key = SeriesKey::new(names::ANSWERS_UNTIL_S, &tags, SeriesPhase::Any);
                recorder.series(Kind::Gauge, key)
            },
            timeout_ns,
            start_ns,
            load_end_ns,
            second_end_ns: start_ns.saturating_add(SECOND_NS),
            in_second: 0,
            seconds: 0,
            last_end_ns: start_ns,
            freed_ns: 0,
        }
    }

    /// How long the answer to a request begun at `began_ns` is waited for, nanoseconds.
    pub(super) fn patience_ns(&self, began_ns: u64) -> u64 {
        self.load_end_ns.saturating_add(self.timeout_ns).saturating_sub(began_ns)
    }

    /// Requests begin together.
    pub(super) fn begun(&self, hit: &Hit, requests: u64, recorder: &mut Recorder) {
        let has_waited = hit.t0_ns < self.freed_ns;
        let able_ns = if has_waited { self.freed_ns } else { hit.t0_ns };
        recorder.record(self.own_lag, hit.began_ns.saturating_sub(able_ns));
        if has_waited {
            recorder.add(self.waited, requests);
        }
    }

    /// All workers were at work until now.
    pub(super) fn freed(&mut self, now_ns: u64) {
        self.freed_ns = now_ns;
    }

    /// A request has ended.
    pub(super) fn ended(&mut self, hit: &Hit, completion: &Completion, recorder: &mut Recorder) {
        let service_ns = completion.ended_ns.saturating_sub(hit.began_ns);
        let is_answered = completion.outcome.is_ok();
        let is_given_up =
            completion.outcome.as_ref().is_err_and(|failure| failure.kind == FailureKind::Timeout);
        if is_answered || is_given_up {
            recorder.record(self.response, completion.ended_ns.saturating_sub(hit.t0_ns));
            recorder.record(self.service, service_ns);
            recorder.add(self.late, u64::from(is_given_up || service_ns > self.timeout_ns));
            self.last_end_ns = self.last_end_ns.max(completion.ended_ns);
        } else if completion.timings.blocked_ns < service_ns && hit.is_unsent(completion.bytes_out)
        {
            recorder.add(self.unsent, 1);
        }
        if is_answered {
            self.roll(completion.ended_ns, recorder);
            self.in_second += 1;
        }
    }

    /// Ends the seconds that are over.
    pub(super) fn roll(&mut self, now_ns: u64, recorder: &mut Recorder) {
        while now_ns >= self.second_end_ns && self.second_end_ns <= self.load_end_ns {
            recorder.record(self.per_second, std::mem::take(&mut self.in_second));
            self.seconds += 1;
            self.second_end_ns += SECOND_NS;
        }
    }

    /// There are no further arrivals.
    pub(super) fn load_ends(&mut self, now_ns: u64, recorder: &mut Recorder) {
        self.roll(now_ns, recorder);
        self.load_end_ns = self.load_end_ns.min(now_ns);
    }

    /// The end: says until when there were answers. A load without a whole second has one sample,
    /// in proportion.
    pub(super) fn finish(&mut self, recorder: &mut Recorder) {
        self.roll(self.load_end_ns, recorder);
        let length_ns = self.load_end_ns.max(self.last_end_ns).saturating_sub(self.start_ns);
        if self.seconds == 0 && length_ns > 0 {
            let per_s = self.in_second as f64 * SECOND_NS as f64 / length_ns as f64;
            recorder.record(self.per_second, per_s.round() as u64);
        }
        let until_ns = self.last_end_ns.saturating_sub(self.start_ns);
        recorder.set(self.until_s, until_ns as f64 / SECOND_NS as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START_NS: u64 = 100 * SECOND_NS;

    fn answers(length_ns: u64, recorder: &mut Recorder) -> Answers {
        recorder.start_at(START_NS);
        Answers::new(0, START_NS, START_NS + length_ns, SECOND_NS, recorder)
    }

    fn per_second(recorder: &mut Recorder) -> Vec<(u64, u64)> {
        let mut store = sojourn_metrics::Store::new();
        store.apply(&recorder.take(START_NS + 1, None)).unwrap();
        let key = SeriesKey::new(names::ANSWERS_PER_SECOND, &[], SeriesPhase::Steady);
        let buckets = store.trend(&key).map(|trend| trend.buckets().map(|(v, _, n)| (v, n)));
        buckets.into_iter().flatten().collect()
    }

    #[test]
    fn whole_seconds_of_the_load_are_samples_and_empty_ones_too() {
        let mut recorder = Recorder::new(0);
        let mut answers = answers(3 * SECOND_NS + SECOND_NS / 2, &mut recorder);
        let mut at = |offset_ns: u64, count: u64| {
            answers.roll(START_NS + offset_ns, &mut recorder);
            answers.in_second += count;
        };
        at(SECOND_NS - 1, 5);
        // The second second is empty; the fourth is cut off by the end of the load.
        at(2 * SECOND_NS, 7);
        at(3 * SECOND_NS, 9);
        at(9 * SECOND_NS, 11);
        answers.finish(&mut recorder);
        assert_eq!(per_second(&mut recorder), [(0, 1), (5, 1), (7, 1)]);
    }

    #[test]
    fn a_load_without_a_whole_second_has_one_sample_in_proportion() {
        let mut recorder = Recorder::new(0);
        let mut answers = answers(SECOND_NS / 2, &mut recorder);
        answers.in_second = 50;
        answers.finish(&mut recorder);
        assert_eq!(per_second(&mut recorder), [(100, 1)]);
    }
}
