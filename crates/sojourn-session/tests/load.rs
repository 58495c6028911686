//! Sessions and phases: who is launched, how often.

use sojourn_session::{Mix, Phase, SIZINGS};

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

#[test]
fn a_phase_can_be_added_behind_the_others() {
    let phases = |text: &str| {
        let phases = defined(&format!("{SESSIONS}{text}")).map(|definition| definition.phases);
        let one = |phase: &Phase| (phase.duration_s, phase.rate_per_s, phase.clients_max);
        phases
            .map(|phases| phases.iter().map(one).collect::<Vec<_>>())
            .map_err(|errors| errors.to_string())
    };
    let added = "definition.addArrivalPhase({ duration: 2, rate: 3, max_clients: 4 });\n";
    assert_eq!(phases(added), Ok(vec![(2.0, 3.0, Some(4))]));
    let set = "definition.setArrivalPhases([{ duration: 1, rate: 0.5 }]);\n";
    assert_eq!(phases(&format!("{set}{added}")), Ok(vec![(1.0, 0.5, None), (2.0, 3.0, Some(4))]));
    assert_eq!(phases(&format!("{added}{set}")), Ok(vec![(1.0, 0.5, None)]), "all are replaced");
    let error = phases(&format!("{set}{added}definition.addArrivalPhase({{ rate: 1 }});"));
    let error = error.unwrap_err();
    assert!(error.starts_with("script.js:5:12: the duration of arrival phase 3"), "{error}");
}

#[test]
fn options_of_the_cluster_are_read_and_said_to_be_ignored() {
    let options = |options: &str| {
        let text = format!(
            "{SESSIONS}definition.addArrivalPhase({{ duration: 1, rate: 1 }});
             definition.setTestOptions({options});"
        );
        defined(&text).map(|it| (it.options, it.warnings)).map_err(|errors| errors.to_string())
    };
    for sizing in SIZINGS {
        let (read, warnings) =
            options(&format!("{{ cluster: {{ sizing: '{sizing}', engine: 'stable' }} }}")).unwrap();
        assert_eq!(
            (read.sizing.as_deref(), read.engine.as_deref()),
            (Some(sizing), Some("stable"))
        );
        assert!(warnings.is_empty(), "{warnings:?}");
        let said = read.ignored().unwrap();
        let expected = format!("cluster.sizing ({sizing}), cluster.engine (stable) of");
        assert!(said.starts_with(&expected) && said.contains(" are ignored"), "{said}");
    }
    let (read, _) = options("{ cluster: { region: 'eu-west-1' } }").unwrap();
    assert!(read.ignored().unwrap().contains("cluster.region (eu-west-1) of setTestOptions() is"));
    let (read, _) = options("{ exclude_tags: ['a'], cluster: {} }").unwrap();
    assert_eq!(read.ignored(), None);
    let error = options("{ cluster: { engine: 1 } }").unwrap_err();
    assert!(error.starts_with("script.js:4:25: cluster.engine must be text"), "{error}");
    let (_, warnings) = options("{ cluster: { engin: 'stable' } }").unwrap();
    assert!(warnings[0].to_string().contains("did you mean `engine`?"), "{warnings:?}");
}
