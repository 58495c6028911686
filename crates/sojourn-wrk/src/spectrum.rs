//! wrk2's distribution: chosen percentiles, then the spectrum that HdrHistogram's plotter reads.

use sojourn_metrics::Histogram;

use crate::{layout::line, units};

/// Heading of the latencies, counted from when each request was due.
pub(crate) const RECORDED: &str = "Recorded Latency";
/// Heading of the service times.
pub(crate) const UNCORRECTED: &str =
    "Uncorrected Latency (measured without taking delayed starts into account)";

const PERCENTILES: [f64; 8] = [50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 99.999, 100.0];
/// Lines for each halving of the distance to 100 %.
const TICKS: f64 = 5.0;
/// How a histogram of three digits counts: buckets of so many values each, each bucket twice as
/// wide as the one before.
const SUB_BUCKETS: u32 = 2_048;
const BUCKETS: u32 = 54;

/// Appends the whole block.
pub(crate) fn write(text: &mut String, heading: &str, values: &Histogram) {
    line(text, format_args!("  Latency Distribution (HdrHistogram - {heading})"));
    for percent in PERCENTILES {
        let value = values.quantile(percent / 100.0).unwrap_or(0);
        let (number, unit) = units::time(value as f64);
        line(text, format_args!("{percent:>7.3}%{number:>8.2}{unit:<2}"));
    }
    let milliseconds = |ns: f64| ns / 1e6;
    line(text, format_args!("\n  Detailed Percentile spectrum:"));
    line(text, format_args!("       Value   Percentile   TotalCount 1/(1-Percentile)\n"));
    for Tick { value_ns, q, count } in ticks(values) {
        let value = milliseconds(value_ns as f64);
        let rarity = if q < 1.0 { format!("{:.2}", 1.0 / (1.0 - q)) } else { "inf".to_owned() };
        line(text, format_args!("{value:>12.3} {q:>12.6} {count:>12} {rarity:>12}"));
    }
    let mean = milliseconds(values.mean().unwrap_or(0.0));
    let deviation = milliseconds(values.stddev().unwrap_or(0.0));
    let most = milliseconds(values.totals().max as f64);
    let count = values.count();
    line(text, format_args!("#[Mean    = {mean:>12.3}, StdDeviation   = {deviation:>12.3}]"));
    line(text, format_args!("#[Max     = {most:>12.3}, Total count    = {count:>12}]"));
    line(text, format_args!("#[Buckets = {BUCKETS:>12}, SubBuckets     = {SUB_BUCKETS:>12}]"));
    line(text, format_args!("{}", "-".repeat(58)));
}

/// A line of the spectrum.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tick {
    value_ns: u64,
    q: f64,
    /// Samples up to this value.
    count: u64,
}

/// Quantiles that come closer and closer to 1, until the last sample is reached: [`TICKS`] steps
/// for each halving of what is left, the last one at 1.
fn ticks(values: &Histogram) -> Vec<Tick> {
    let total = values.count();
    if total == 0 {
        return Vec::new();
    }
    let mut ticks = Vec::new();
    let mut ladder = Ladder::new(values);
    let mut q = 0.0;
    loop {
        let (value_ns, count) = ladder.up_to(q);
        if count == total {
            break;
        }
        ticks.push(Tick { value_ns, q, count });
        let halvings = (1.0 / (1.0 - q)).log2().floor();
        q += 0.5_f64.powf(halvings + 1.0) / TICKS;
    }
    ticks.push(Tick { value_ns: values.totals().max, q: 1.0, count: total });
    ticks
}

/// Walks up the buckets once.
struct Ladder<'h> {
    buckets: Box<dyn Iterator<Item = (u64, u64, u64)> + 'h>,
    total: u64,
    most: u64,
    value_ns: u64,
    count: u64,
}

impl<'h> Ladder<'h> {
    fn new(values: &'h Histogram) -> Self {
        let most = values.totals().max;
        let buckets = Box::new(values.buckets());
        Self { buckets, total: values.count(), most, value_ns: 0, count: 0 }
    }

    /// The value of this quantile, and how many samples are not above it. `q` never falls.
    fn up_to(&mut self, q: f64) -> (u64, u64) {
        let rank = ((q * self.total as f64).ceil() as u64).clamp(1, self.total);
        while self.count < rank {
            let Some((_, greatest, count)) = self.buckets.next() else { break };
            self.value_ns = greatest.min(self.most);
            self.count += count;
        }
        (self.value_ns, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Histogram {
        let mut values = Histogram::new();
        // Latencies from 0.1 ms to some seconds, most of them short.
        for k in 1..=100_000_u64 {
            let share = k as f64 / 100_001.0;
            values.record((100_000.0 - 1e6 * (1.0 - share).ln()) as u64 + k % 997);
        }
        values
    }

    #[test]
    fn the_ladder_is_that_of_another_implementation() {
        let ours = sample();
        let mut theirs = hdrhistogram::Histogram::<u64>::new(3).expect("valid");
        for (_, greatest, count) in ours.buckets() {
            theirs.record_n(greatest, count).expect("in range");
        }
        let mut expected: Vec<(f64, u64)> = theirs
            .iter_quantiles(TICKS as u32)
            .map(|step| (step.quantile_iterated_to(), step.value_iterated_to()))
            .collect();
        // It ends with the quantile at which the last sample is reached, and 1 for the end.
        let (_, last) = expected.pop().expect("not empty");
        while expected.last().is_some_and(|(_, value)| *value == last) {
            expected.pop();
        }
        let ticks = ticks(&ours);
        let (end, before) = ticks.split_last().expect("not empty");
        assert_eq!(before.len(), expected.len());
        for (tick, (q, value)) in before.iter().zip(expected) {
            assert!((tick.q - q).abs() < 1e-9, "{tick:?} {q}");
            assert_eq!(tick.value_ns, value, "{q}");
            assert_eq!(tick.count, theirs.count_between(0, tick.value_ns));
        }
        assert_eq!((end.q, end.count), (1.0, 100_000));
        assert_eq!(end.value_ns, ours.totals().max);
    }

    #[test]
    fn few_samples_have_a_spectrum_and_none_has_an_empty_one() {
        let mut one = Histogram::new();
        assert!(ticks(&one).is_empty());
        one.record(5_000_000);
        assert_eq!(ticks(&one), [Tick { value_ns: 5_000_000, q: 1.0, count: 1 }]);
        let mut text = String::new();
        write(&mut text, RECORDED, &one);
        assert!(text.contains("       5.000     1.000000            1          inf\n"), "{text}");
        write(&mut text, UNCORRECTED, &Histogram::new());
        assert!(text.ends_with(&format!("{}\n", "-".repeat(58))), "{text}");
    }
}
