//! `latency` and `requests` of `done()`: a distribution that scripts can ask.

use mlua::{MetaMethod, UserData, UserDataFields, UserDataMethods};
use sojourn_metrics::Histogram;

/// A distribution in a unit of its own.
pub(crate) struct Statistics {
    histogram: Histogram,
    /// What one unit is of what the histogram counts: 1,000 for microseconds in nanoseconds.
    unit: f64,
    /// (value in units, how often), ascending, as [`Histogram::buckets`] tell them apart.
    values: Vec<(u64, u64)>,
}

impl Statistics {
    /// Of what was counted in nanoseconds, in microseconds.
    pub(crate) fn of_latencies(histogram: &Histogram) -> Self {
        Self::new(histogram, 1e3)
    }

    /// Of plain numbers.
    pub(crate) fn of_numbers(histogram: &Histogram) -> Self {
        Self::new(histogram, 1.0)
    }

    fn new(histogram: &Histogram, unit: f64) -> Self {
        let most = histogram.totals().max;
        let mut values: Vec<(u64, u64)> = Vec::new();
        for (_, greatest, count) in histogram.buckets() {
            let value = whole(greatest.min(most), unit);
            match values.last_mut() {
                Some((last, n)) if *last == value => *n += count,
                _ => values.push((value, count)),
            }
        }
        Self { histogram: histogram.clone(), unit, values }
    }

    /// Zero without samples, as are the others.
    fn least(&self) -> u64 {
        if self.histogram.count() == 0 { 0 } else { whole(self.histogram.totals().min, self.unit) }
    }

    fn most(&self) -> u64 {
        whole(self.histogram.totals().max, self.unit)
    }

    fn percentile(&self, percent: f64) -> u64 {
        let q = (percent / 100.0).clamp(0.0, 1.0);
        self.histogram.quantile(q).map_or(0, |value| whole(value, self.unit))
    }
}

/// To the nearest whole unit.
fn whole(value: u64, unit: f64) -> u64 {
    (value as f64 / unit).round() as u64
}

impl UserData for Statistics {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("min", |_, this| Ok(this.least() as f64));
        fields.add_field_method_get("max", |_, this| Ok(this.most() as f64));
        fields.add_field_method_get("mean", |_, this| {
            Ok(this.histogram.mean().unwrap_or(0.0) / this.unit)
        });
        fields.add_field_method_get("stdev", |_, this| {
            Ok(this.histogram.stddev().unwrap_or(0.0) / this.unit)
        });
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("percentile", |_, this, percent: f64| {
            if percent.is_nan() {
                return Err(mlua::Error::runtime("percentile() takes a number from 0 to 100"));
            }
            Ok(this.percentile(percent) as f64)
        });
        methods.add_meta_method(MetaMethod::Len, |_, this, ()| Ok(this.values.len() as f64));
        methods.add_meta_method(MetaMethod::Call, |_, this, place: f64| {
            let place = if place >= 1.0 { place as usize - 1 } else { usize::MAX };
            let (value, count) = this.values.get(place).copied().unwrap_or((0, 0));
            Ok((value as f64, count as f64))
        });
    }
}

#[cfg(test)]
mod tests {
    use mlua::Lua;

    use super::*;

    fn ask(statistics: Statistics, code: &str) -> String {
        let lua = Lua::new();
        lua.globals().set("s", statistics).unwrap();
        lua.load(code).eval::<String>().unwrap()
    }

    #[test]
    fn microseconds_of_nanoseconds() {
        let mut histogram = Histogram::new();
        for value_us in 1..=100 {
            histogram.record(value_us * 1_000);
        }
        let statistics = Statistics::of_latencies(&histogram);
        let code = "local v, n = s(3) return table.concat({s.min, s.max, s.mean, \
                    string.format('%.3f', s.stdev), s:percentile(50), s:percentile(99.0), \
                    s:percentile(100), #s, v, n}, ' ')";
        assert_eq!(ask(statistics, code), "1 100 50.5 28.866 50 99 100 100 3 1");
    }

    #[test]
    fn without_samples_everything_is_zero() {
        let code = "local v, n = s(1) return table.concat({s.min, s.max, s.mean, s.stdev, \
                    s:percentile(99), #s, v, n}, ' ')";
        assert_eq!(ask(Statistics::of_numbers(&Histogram::new()), code), "0 0 0 0 0 0 0 0");
    }

    #[test]
    fn every_sample_is_in_one_of_the_values() {
        let mut histogram = Histogram::new();
        for k in 0..10_000_u64 {
            histogram.record(k * k * 37);
        }
        let statistics = Statistics::of_latencies(&histogram);
        let code = "local n, last = 0, -1 for i = 1, #s do local v, c = s(i) assert(v > last) \
                    last = v n = n + c end return n .. ' ' .. last";
        let last = (9_999_u64 * 9_999 * 37) as f64 / 1e3;
        assert_eq!(ask(statistics, code), format!("10000 {}", last.round()));
    }
}
