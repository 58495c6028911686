//! Steps that steer.

use sojourn_session::{Ended, Fault};

use crate::util::{Reply, lines, play, program, script};

#[test]
fn blocks_nest_and_count() {
    let steps = "session.times(2, (outer) => {
          session.log('a');
          outer.times(3, (inner) => inner.log('b'));
        });
        session.times(0, (s) => s.log('never'));
        session.log('end');";
    let expected: Vec<_> =
        "a b b b a b b b end".split(' ').map(|word| format!("log {word}")).collect();
    assert_eq!(lines(steps), expected);
}

#[test]
fn conditions_choose() {
    let steps = "session.setVar('n', 10);
        const n = session.getVar('n');
        session.if(n, '>', 9, (s) => s.log('as numbers'));
        session.if(n, 'lt', '9x', (s) => s.log('as text'));
        session.if(n, '=', 1, (s) => s.log('no')).else((s) => s.log('else'));
        session.if(n, '=', 10, (s) => s.log('yes'));
        session.else((s) => s.log('no'));
        session.if(session.getVar('unset'), '=', '', (s) => s.log('unset is empty'));
        session.while(session.getVar('x'), '!=', 'aaa', (s) => s.setVar('x', s.getVar('x') + 'a'));
        session.log(session.getVar('x'));
        session.check('c', n, '<=', 10); session.check('c', n, 'ne', '10.0');";
    let expected = [
        "log as numbers",
        "log as text",
        "log else",
        "log yes",
        "log unset is empty",
        "log aaa",
        "check c ok",
        "check c KO",
    ];
    assert_eq!(lines(steps), expected);
}

#[test]
fn lists_are_gone_through() {
    let steps =
        "session.forEach(['a', 1, session.lastHttpStatus()], (s, item) => s.log('<' + item + '>'));
        session.get('/l', { extraction: { jsonpath: { list: '$.l' } } });
        session.forEach(session.getVar('list'), (s, outer) => {
          s.forEach(outer, (s, inner) => s.log(inner));
          s.log(outer);
        });
        session.forEach(session.getVar('none'), (s, item) => s.log(item));
        session.forEach([], (s, item) => s.log(item));";
    let program = program(&script(steps));
    let story =
        play(&program, 0, 0, 100, |_| Some(Reply::ok("{\"l\": [[1, \"b\"], {\"c\": 2}, 3]}")));
    let expected = [
        "log <a>",
        "log <1>",
        "log <0>",
        "GET http://a.example/l",
        "log 1",
        "log b",
        "log [1, \"b\"]",
        "log {\"c\": 2}",
        "log 3",
    ];
    assert_eq!(story.lines, expected);
    assert_eq!(story.ended, Some(Ended::Completed));
}

#[test]
fn for_ever_goes_on_and_abort_ends() {
    let steps = "session.setVar('n', '');
        session.forEver((s) => {
          s.setVar('n', s.getVar('n') + 'x');
          s.if(s.getVar('n'), '=', 'xxxx', (s) => s.abort());
          s.wait(0.25);
        });";
    let story = play(&program(&script(steps)), 0, 0, 100, |_| None);
    assert_eq!((story.ended, story.waited_s), (Some(Ended::Aborted), 0.75));
    // A loop that asks for nothing lets others have their turn.
    let busy = program(&script("session.forEver((s) => s.setVar('a', '1'));"));
    let story = play(&busy, 0, 0, 50, |_| None);
    assert_eq!(story.lines, vec!["wait 0"; 50]);
}

#[test]
fn counts_are_drawn_for_each_client() {
    let steps = "session.times(session.ds.generate('random_number', { range: [1, 3] }), (s) => s.log('x'));";
    let program = program(&script(steps));
    let mut counts = [0; 4];
    for client in 0..9_000 {
        counts[play(&program, 0, client, 10, |_| None).lines.len()] += 1;
    }
    assert_eq!(counts[0], 0);
    for count in &counts[1..] {
        // Four deviations of a third of 9,000.
        assert!((f64::from(*count) - 3_000.0).abs() < 4.0 * 44.7, "{counts:?}");
    }
}

#[test]
fn waits_are_fixed_uniform_or_exponential() {
    let waited = |steps: &str, clients: u64| -> Vec<f64> {
        let program = program(&script(steps));
        (0..clients).map(|client| play(&program, 0, client, 10, |_| None).waited_s).collect()
    };
    assert_eq!(waited("session.wait(1.5);", 2), [1.5, 1.5]);
    let uniform = waited("session.waitUniform(2, 4);", 4_000);
    assert!(uniform.iter().all(|s| (2.0..4.0).contains(s)));
    let mean = uniform.iter().sum::<f64>() / 4_000.0;
    assert!((mean - 3.0).abs() < 5.0 * (2.0 / 12_f64.sqrt()) / 4_000_f64.sqrt(), "{mean}");
    let random = waited("session.wait(3, { random: true });", 4_000);
    let mean = random.iter().sum::<f64>() / 4_000.0;
    assert!((mean - 3.0).abs() < 5.0 * 3.0 / 4_000_f64.sqrt(), "{mean}");
    // The share above the mean of an exponential is 1/e.
    let above = random.iter().filter(|s| **s > 3.0).count() as f64 / 4_000.0;
    assert!((above - (-1_f64).exp()).abs() < 0.04, "{above}");
    let steps = "session.setVar('s', '0.5'); session.wait(session.getVar('s'));";
    assert_eq!(waited(steps, 1), [0.5]);
}

#[test]
fn what_is_no_number_ends_the_client_with_its_place() {
    for steps in [
        "session.setVar('a', 'b');\nsession.wait(session.getVar('a'));",
        "session.setVar('a', '-1');\nsession.waitExp(session.getVar('a'));",
        "session.setVar('a', '1.5');\nsession.times(session.getVar('a'), (s) => s.log('no'));",
        "\nsession.times(session.getVar('a'), (s) => s.log('no'));",
    ] {
        let program = program(&script(steps));
        let story = play(&program, 0, 0, 10, |_| None);
        let Some(Ended::Faulted(Fault::NotANumber, at)) = story.ended else { panic!("{story:?}") };
        let place = program.place(at).unwrap();
        assert_eq!((&*place.file, place.line), ("script.js", 5), "{steps}");
    }
    let steps = "session.setVar('a', 'x'.repeat(100000));
        session.forEver((s) => s.setVar('a', s.getVar('a') + s.getVar('a')));";
    let story = play(&program(&script(steps)), 0, 0, 100, |_| None);
    assert!(matches!(story.ended, Some(Ended::Faulted(Fault::TooLong, _))));
}

#[test]
fn events_are_published_and_awaited() {
    let steps = "session.setVar('id', '7');
        const id = session.getVar('id');
        session.publish('orders', { key: id, payload: { id, n: 1 }, headers: { a: id } });
        session.expect('paid', { key: id, within: 2.5, extraction: { jsonpath: { state: '$.state' } } });
        session.log(session.getVar('state'));
        session.expect('shipped', { key: `o-${id}`, count: 2 });
        session.log(session.getVar('state'));
        session.expect('closed', { key: id, required: true });
        session.log('never');";
    let program = program(&script(steps));
    let story = play(&program, 0, 0, 100, |stage| {
        (stage == "paid").then(|| Reply::ok("{\"state\": \"done\"}"))
    });
    let expected = [
        "publish orders 7 {\"id\":7,\"n\":1}",
        "expect 1 paid 7 2.5",
        "log done",
        "expect 2 shipped o-7 30",
        "log done",
        "expect 1 closed 7 30",
    ];
    assert_eq!(story.lines, expected);
    assert_eq!(story.ended, Some(Ended::EventMissed));
}

#[test]
fn steps_of_excluded_tags_are_left_out() {
    let steps = "session.get('/a', { tag: 'x' });
        session.times(2, (s) => s.get('/b', { tag: 'y' }));
        session.get('/c');";
    let text = format!("{}definition.setTestOptions({{ exclude_tags: ['y'] }});", script(steps));
    let story = play(&program(&text), 0, 0, 10, |_| None);
    assert_eq!(story.lines, ["GET http://a.example/a", "GET http://a.example/c"]);
}

#[test]
fn a_variable_that_is_not_found_becomes_empty() {
    let steps = "session.setVar('a', 'old');
        session.get('/', { extraction: { jsonpath: { a: 'b' } } });
        session.log(`<${session.getVar('a')}> ${session.lastHttpStatus()}`);";
    let program = program(&script(steps));
    let log = |reply: Option<Reply>| play(&program, 0, 0, 10, |_| reply.clone()).lines.pop();
    assert_eq!(log(Some(Reply::ok("{}"))).as_deref(), Some("log <> 200"));
    assert_eq!(
        log(Some(Reply { status: 503, ..Reply::ok("{\"b\":1}") })).as_deref(),
        Some("log <1> 503")
    );
    assert_eq!(log(None).as_deref(), Some("log <> 0"));
}

#[test]
fn comparisons_have_old_names() {
    let signs = [("lt", "<"), ("lte", "<="), ("gt", ">"), ("gte", ">="), ("eq", "="), ("ne", "!=")];
    let pairs = [("1", "2"), ("2", "2.0"), ("10", "9"), ("a", "b"), ("b", "b"), ("", "0")];
    for (old, sign) in signs {
        let steps = |compare: &str| {
            let check = |(a, b): &(&str, &str)| {
                format!(
                    "session.check('c', '{a}', '{compare}', '{b}');
                     session.if('{a}', '{compare}', '{b}', (s) => s.log('yes'))
                       .else((s) => s.log('no'));"
                )
            };
            pairs.iter().map(check).collect::<String>()
        };
        let old = lines(&steps(old));
        assert_eq!(old, lines(&steps(sign)), "{sign}");
        let holds: Vec<bool> = old.chunks(2).map(|pair| pair[0] == "check c ok").collect();
        let expected = match sign {
            "<" => [true, false, false, true, false, true],
            "<=" => [true, true, false, true, true, true],
            ">" => [false, false, true, false, false, false],
            ">=" => [false, true, true, false, true, false],
            "=" => [false, true, false, false, true, false],
            _ => [true, false, true, true, false, true],
        };
        assert_eq!(holds, expected, "{sign}");
        let branches = old.chunks(2).map(|pair| pair[1] == "log yes");
        assert!(branches.eq(expected), "{sign}: {old:?}");
    }
}

#[test]
fn a_matched_value_is_a_variable() {
    let steps = "session.get('/', { extraction: { jsonpath: { n: '$.n' } } });
        session.log(session.matchedValue('n') + session.getVar('n'));
        session.setVar('n', session.matchedValue('n') + '0');
        session.check('n', session.matchedValue('n'), '=', session.getVar('n'));
        session.log(`<${session.matchedValue('none')}>`);";
    let story = play(&program(&script(steps)), 0, 0, 100, |_| Some(Reply::ok("{\"n\": 7}")));
    assert_eq!(story.lines[1..], ["log 77", "check n ok", "log <>"]);
}
