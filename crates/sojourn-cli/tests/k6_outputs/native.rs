//! Trends as native histograms, to a real Prometheus.

use serde_json::Value;
use sojourn_testkit::services::Prometheus;

use super::{Played, assert_near};

/// The factor between a bucket's bounds.
const FACTOR: f64 = 1.090_507_732_665_257_7;

#[test]
fn trends_are_native_histograms_where_they_are_asked_for() {
    let server = Prometheus::start_with_native_histograms().unwrap();
    let url = format!("{}/api/v1/write", server.url());
    let variables = [
        ("K6_PROMETHEUS_RW_SERVER_URL", url.as_str()),
        ("K6_PROMETHEUS_RW_PUSH_INTERVAL", "100ms"),
        ("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM", "true"),
    ];
    let played = Played::new(&["experimental-prometheus-rw"], &variables).whole();
    let ask = |expression: &str| -> Vec<Value> {
        let text = server.query(expression).unwrap();
        let answer: Value = serde_json::from_str(&text).unwrap();
        let result = answer["data"]["result"].as_array();
        result.unwrap_or_else(|| panic!("{expression} yields {text}")).clone()
    };
    let number = |expression: &str| -> f64 {
        let found = ask(expression);
        assert_eq!(found.len(), 1, "{expression}: {found:?}");
        found[0]["value"][1].as_str().unwrap().parse().unwrap()
    };
    // Times are seconds there; of other trends k6 knows no unit. Gauges of their figures are none.
    for (name, metric, scale) in [("k6_took_seconds", "took", 1e-3), ("k6_size", "size", 1.0)] {
        let mut values = played.values(metric, "", "");
        values.sort_by(f64::total_cmp);
        let count = number(&format!("histogram_count({name})"));
        assert_near(count, values.len() as f64, name);
        let sum = number(&format!("histogram_sum({name})"));
        assert_near(sum, values.iter().sum::<f64>() * scale, name);
        let found = ask(name);
        let buckets = found[0]["histogram"][1]["buckets"].as_array().unwrap();
        // Each bucket has exactly the samples above its lower bound and up to its upper one.
        for bucket in buckets {
            let part = |at: usize| bucket[at].as_str().unwrap().parse::<f64>().unwrap();
            let (low, high, count) = (part(1), part(2), part(3));
            let is_in = |value: &&f64| (low < **value * scale) & (**value * scale <= high);
            // The bucket of zero has both its bounds.
            let is_zero = low < 0.0 && high > 0.0;
            let own = match is_zero {
                true => values.iter().filter(|value| **value == 0.0).count(),
                false => values.iter().filter(is_in).count(),
            };
            assert_eq!(count, own as f64, "{name} from {low} to {high}");
            assert!(is_zero || (high / low - FACTOR).abs() < 1e-9, "{low} to {high}");
        }
        let found = number(&format!("histogram_quantile(0.9, {name})"));
        let exact = values[(values.len() * 9).div_ceil(10) - 1] * scale;
        assert!((found / FACTOR..=found * FACTOR).contains(&exact), "{name}: {found}, not {exact}");
    }
    assert!(ask("{__name__=~\"k6_took_(p|count|avg).*\"}").is_empty());
    // Series by their tags, all of one metric together.
    let requests = number("histogram_count(sum(k6_http_req_duration_seconds))");
    assert_near(requests, played.of("http_reqs", "count"), "http_req_duration");
    assert_near(number("k6_counted_total{kind=\"a b\"}"), 120.0, "counted");
}
