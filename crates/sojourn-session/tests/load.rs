//! Sessions and phases: who is launched, how often.

use sojourn_session::Mix;

use crate::util::defined;

const SESSIONS: &str = "definition.setTarget('a');
    for (const name of ['a', 'b', 'c']) definition.session(name, (s) => s.get('/' + name));\n";

fn picked(mix: &Mix, clients: u64) -> Vec<u64> {
    let mut counts = vec![0; 3];
    for client in 0..clients {
        counts[mix.pick(sojourn_pace::random_unit(42, 1, client))] += 1;
    }
    counts
}

#[test]
fn weights_of_three_to_one_are_kept_over_ten_thousand_clients() {
    let text = format!(
        "{SESSIONS}definition.setSessionWeights({{ a: 3, c: 0 }});
         definition.setArrivalPhases([{{ duration: 10, rate: 0 }},
            {{ duration: 1.5, rate: 0.5, max_clients: 5, session_weights: {{ a: 0, b: 0, c: 2 }} }},
            {{ duration: 1, rate: 1, max_users: 7 }}]);"
    );
    let phases = defined(&text).unwrap().phases;
    let counts = picked(&phases[0].mix, 10_000);
    // A binomial count of 10,000 by 3/4 deviates by 43.3.
    assert!((counts[0] as f64 - 7_500.0).abs() < 3.0 * 43.3, "{counts:?}");
    assert_eq!((counts[0] + counts[1], counts[2]), (10_000, 0));
    assert_eq!(picked(&phases[1].mix, 1_000), [0, 0, 1_000]);
    assert_eq!(
        (phases[0].rate_per_s, phases[1].clients_max, phases[2].clients_max),
        (0.0, Some(5), Some(7))
    );
    assert_eq!(phases[2].mix, phases[0].mix);
}

#[test]
fn probabilities_must_be_a_hundred() {
    let with = |shares: &str| {
        let text = format!(
            "{SESSIONS}definition.setArrivalPhases([{{ duration: 1, rate: 1 }}]);\n{shares}"
        );
        defined(&text)
            .map(|definition| definition.phases[0].mix.clone())
            .map_err(|errors| errors.to_string())
    };
    let mix = with("definition.setSessionProbabilities({ a: 10, b: 90 });").unwrap();
    assert_eq!((mix.share(0), mix.share(1), mix.share(2)), (0.1, 0.9, 0.0));
    let error = with("definition.setSessionProbabilities({ a: 10, b: 89.9 });").unwrap_err();
    assert_eq!(error, "script.js:4:12: the session probabilities are 99.9 in all, not 100");
    let error = with("definition.setSessionWeights({ a: 0, b: 0, c: 0 });").unwrap_err();
    assert_eq!(error, "script.js:4:12: all session weights are 0");
    let error = with("definition.setSessionWeights({ d: 1 });").unwrap_err();
    assert!(error.contains("there is no session `d`"), "{error}");
    let error = with("definition.setSessionWeights({ a: -1 });").unwrap_err();
    assert!(error.contains("the share of `a` must be a number of at least 0"), "{error}");
    let mix =
        with("definition.addSessionWeight('a', 0); definition.addSessionWeight('b', 0);").unwrap();
    assert_eq!(mix.share(2), 1.0);
}

#[test]
fn the_old_form_gives_probabilities_with_the_session() {
    let text = "definition.setTarget('a'); definition.setArrivalPhases([{ duration: 1, rate: 1 }]);
        definition.session('x', 25, (s) => s.get('/')); definition.session('y', 75, (s) => s.get('/'));";
    let mix = defined(text).unwrap().phases[0].mix.clone();
    assert_eq!((mix.share(0), mix.share(1)), (0.25, 0.75));
}
