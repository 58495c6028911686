//! Channels, stages, and what sessions' messages and expectations come to as a plan.

use sojourn_plan::PlanErrors;
use sojourn_session::{Channels, Data, Program, SessionLoad, session_load};

use crate::util::{Disk, defined, script};

const CHANNELS: &str = "
    definition.addChannel('orders', { kafka: { brokers: 'b:9092', topics: ['orders'] }, key: '$.id' });
    definition.addStage('paid', { on: 'orders', match: { type: 'Paid' } });
    definition.addStage('shipped', { on: 'orders', match: { type: 'Shipped' }, key: 'key', member: '$.n' });\n";

fn channels(text: &str) -> Result<Channels, PlanErrors> {
    Channels::load(&defined(text).unwrap_or_else(|errors| panic!("{text}\n{errors}")), &Disk)
}

fn loaded(steps: &str) -> SessionLoad {
    let text = format!("{}{CHANNELS}", script(steps));
    let definition = defined(&text).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
    let channels = Channels::load(&definition, &Disk).unwrap_or_else(|errors| panic!("{errors}"));
    let program = Program::compile(&definition, &Data::default()).expect("it compiles");
    session_load("test", text, &definition, (&program, &channels), 5_000_000_000)
}

/// Journeys of events: name, stages, deadline in seconds.
fn journeys(steps: &str) -> Vec<(String, String, f64)> {
    let load = loaded(steps);
    let events = load.events.expect("there are events");
    let of_events = load.plan.journeys[events.sessions..].iter();
    let shown = of_events.map(|journey| {
        let stages: Vec<&str> = journey.stages.iter().map(|stage| stage.name.as_str()).collect();
        (journey.name.clone(), stages.join(" "), journey.within_ns as f64 / 1e9)
    });
    shown.collect()
}

fn journey(name: &str, stages: &str, within_s: f64) -> (String, String, f64) {
    (name.to_owned(), stages.to_owned(), within_s)
}

#[test]
fn expectations_in_a_row_are_one_journey() {
    let row = "const id = session.getVar('id'); session.setVar('id', '1'); session.get('/');
        session.expect('paid', { key: id, within: 2 });
        session.check('x', id, '=', 1); session.log('y'); session.setVar('other', 'z');
        session.expect('shipped', { key: id, within: 3 });";
    assert_eq!(journeys(row), [journey("s (paid-shipped)", "paid shipped", 5.0)]);
    // A pause, a request, another key, a new key, a branch: each begins another one.
    let apart = [journey("s (paid)", "paid", 2.0), journey("s (shipped)", "shipped", 3.0)];
    for between in ["session.wait(1);", "session.get('/');", "session.setVar('id', '2');"] {
        let text = row.replace("session.log('y');", between);
        assert_eq!(journeys(&text), apart, "{between}");
    }
    let branch = "session.setVar('id', '1'); const id = session.getVar('id');
        session.if(id, '=', 1, (s) => s.expect('paid', { key: id, within: 2 }))
            .else((s) => s.expect('shipped', { key: id, within: 3 }));";
    assert_eq!(journeys(branch), apart);
    let generated = "const id = session.ds.generate('random_uuid');
        session.expect('paid', { key: id, within: 2 });
        session.expect('shipped', { key: id, within: 3 });";
    assert_eq!(journeys(generated), apart, "each use is another value");
    // The same row at two places is the same journey; with other deadlines it is another.
    let twice = "session.times(2, (s) => s.expect('paid', { key: 'k', within: 2 }));
        session.expect('paid', { key: 'l', within: 2 });
        session.expect('paid', { key: 'l', within: 4 });";
    assert_eq!(
        journeys(twice),
        [journey("s (paid)", "paid", 2.0), journey("s (paid) 2", "paid", 4.0)]
    );
}

#[test]
fn steps_and_channels_are_those_that_are_used() {
    let load = loaded(
        "session.get('/x', { tag: 'a' });
         session.publish('orders', { payload: 'x', tag: 'a' });
         session.publish('orders', { payload: 'y' });
         session.expect('shipped', { key: 'k', count: 2, extraction: { header: { h: 'H' } } });
         session.expect('orders', { key: 'k' });",
    );
    let steps: Vec<&str> =
        load.plan.journeys[0].steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(steps, ["a", "publish orders", "expect shipped", "expect orders"]);
    let events = load.events.unwrap();
    let published: Vec<_> = events.published.iter().map(|it| (it.step, &*it.topic)).collect();
    assert_eq!(published, [(1, "orders"), (1, "orders")]);
    // Declared: the channel's own stage, then paid and shipped.
    let expected: Vec<_> =
        events.expected.iter().map(|it| (it.step, it.stage, it.begins)).collect();
    assert_eq!(expected, [(2, 2, Some(1)), (3, 0, None)]);
    assert_eq!(events.stages, [vec![], vec![2, 0]]);
    assert_eq!(events.is_kept, [false, false, true]);
    assert_eq!(load.plan.channels.len(), 1);
    let idle = loaded("session.get('/');");
    assert!(idle.events.is_none() && idle.plan.channels.is_empty());
}

#[test]
fn what_is_wrong_is_said_where_it_is_declared() {
    let whole = script("session.get('/');");
    for (line, said) in [
        ("definition.addChannel('x', {});", "does not say where it is"),
        ("definition.addChannel('x', { kafka: { broker: 'b' } });", "did you mean `brokers`"),
        ("definition.addChannel('x', { webhook: {}, key: 7 });", "is no selector"),
        ("definition.addStage('x', { on: 'order', key: 'key' });", "did you mean `orders`"),
        ("definition.addStage('x', { on: 'orders', were: {} });", "the stage `x` has no `were`"),
        (
            "definition.addStage('x', { on: 'orders', match: { typ: 1 } });",
            "`typ` is not a selector",
        ),
        ("definition.addStage('orders', { on: 'orders' });", "two stages `orders`"),
    ] {
        let text = format!("{whole}{CHANNELS}{line}\n");
        let told = channels(&text).map(|_| ()).unwrap_err();
        assert_eq!(told.0.len(), 1, "{told}");
        let last = text.lines().count();
        assert_eq!(told.0[0].line, last, "{told}");
        assert!(told.to_string().contains(said), "{line}: {told}");
    }
    for (step, said) in [
        ("session.publish('order', { payload: 'x' });", "there is no channel `order`"),
        ("session.publish('hooks', { payload: 'x' });", "can only listen"),
        ("session.expect('pay', { key: 'k' });", "there is no stage `pay`"),
        ("session.expect('paid', { key: 'k', count: 2 });", "2 events of the stage `paid`"),
    ] {
        let hooks = "definition.addChannel('hooks', { webhook: { path: '/x' } });";
        let text = format!("{}{CHANNELS}{hooks}", script(step));
        let told = channels(&text).map(|_| ()).unwrap_err();
        assert_eq!((told.0.len(), told.0[0].line), (1, 4), "{told}");
        assert!(told.to_string().contains(said), "{step}: {told}");
    }
    for (text, said) in [
        ("definition.addChannel('a', {}); definition.addChannel('a', {});", "two channels `a`"),
        ("definition.addChannel('a', 7);", "must be an object"),
    ] {
        let told = defined(&format!("{whole}{text}")).map(|_| ()).unwrap_err();
        assert!(told.to_string().contains(said), "{told}");
    }
}

#[test]
fn secrets_of_channels_are_not_in_the_plans_text() {
    let text = format!(
        "{}definition.addChannel('q', {{ amqp: {{ url: 'amqp://u:hunter2@h/', \
         exchange: 'e', routing: ['r'] }} }});",
        script("session.publish('q', { payload: 'x' });")
    );
    let definition = defined(&text).unwrap();
    let channels = Channels::load(&definition, &Disk).unwrap_or_else(|errors| panic!("{errors}"));
    let program = Program::compile(&definition, &Data::default()).expect("it compiles");
    let load = session_load("t", text, &definition, (&program, &channels), 1);
    assert!(!load.plan.text.contains("hunter2"), "{}", load.plan.text);
    assert!(load.plan.text.contains("session.publish"), "{}", load.plan.text);
}
