//! Whatever is given: no panic, and the strongest tier that gives a value wins.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sojourn_k6::options::{Environment, Options, Tier, Tiers, consolidate};

/// Keys of options and scenarios, so that random objects get somewhere.
const WORDS: &[&str] = &[
    "vus",
    "duration",
    "iterations",
    "stages",
    "scenarios",
    "executor",
    "constant-vus",
    "target",
    "ramping-vus",
    "shared-iterations",
    "per-vu-iterations",
    "constant-arrival-rate",
    "rate",
    "ramping-arrival-rate",
    "preAllocatedVUs",
    "maxVUs",
    "timeUnit",
    "startRate",
    "startVUs",
    "gracefulStop",
    "gracefulRampDown",
    "startTime",
    "exec",
    "env",
    "tags",
    "thresholds",
    "dns",
    "hosts",
    "tlsVersion",
    "tlsAuth",
    "blacklistIPs",
    "executionSegment",
    "0:1/2",
    "0,1/2,1",
    "executionSegmentSequence",
    "externally-controlled",
    "10s",
    "1d",
    "5",
    "-1",
    "threshold",
    "systemTags",
    "summaryTrendStats",
    "127.0.0.1",
    "10.0.0.0/8",
    "*.a.b",
    "ttl",
    "",
    "1e400",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(WORDS).prop_map(String::from),
        1 => "\\PC{0,8}",
    ]
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..30).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..8)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// One option's values in four tiers: key, variable, and what each tier may give.
fn switches() -> impl Strategy<Value = [Option<i64>; 3]> {
    prop::array::uniform3(prop::option::of(1_i64..100))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_json_panics(value in json()) {
        if let Ok((script, _)) = Options::from_json(Tier::Script, &value) {
            drop(script.to_json());
            if let Ok(all) = consolidate(Tiers { script, ..Tiers::default() }) {
                prop_assert!(all.requirements().planned_vus <= all.requirements().max_vus);
                prop_assert!(!all.exec_names().is_empty());
                // What is shown can be read again, and means the same.
                let shown = all.options.to_json();
                let (again, unknown) =
                    Options::from_json(Tier::Script, &shown).expect("readable");
                // Which only flags and variables give.
                prop_assert_eq!(unknown, ["consoleOutput", "features", "localIPs"]);
                // No system tags at all are shown as if none were given.
                if all.options.system_tags.is_none_or(|tags| !tags.0.is_empty()) {
                    prop_assert_eq!(again.to_json(), shown);
                }
            }
        }
    }

    #[test]
    fn the_strongest_tier_wins(batch in switches(), rps in switches()) {
        let tier = |at: usize| json!({"batch": batch[at], "rps": rps[at]});
        let read = |tier: Tier, value: Value| Options::from_json(tier, &value).expect("numbers").0;
        let mut environment = Environment::new();
        for (name, value) in [("K6_BATCH", batch[2]), ("K6_RPS", rps[2])] {
            environment.extend(value.map(|value| (name.to_owned(), value.to_string())));
        }
        let all = consolidate(Tiers {
            config_file: read(Tier::ConfigFile, tier(0)),
            script: read(Tier::Script, tier(1)),
            environment: Options::from_environment(&environment).expect("numbers"),
            flags: Options::default(),
        })
        .expect("no conflict");
        let strongest = |values: [Option<i64>; 3]| values.into_iter().rev().flatten().next();
        prop_assert_eq!(all.options.batch, strongest(batch));
        prop_assert_eq!(all.options.rps, strongest(rps));
    }
}
