//! Servers that die, connections that are cut or stall.

use sojourn_broker::{Recovery, Tap as _};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_services::{CutProxy, Nats, Service as _};

use crate::support::{Keeper, channel, opened, poll_for, poll_gap, poll_until};
use crate::system::System;

fn proxied(nats: &Nats) -> CutProxy {
    CutProxy::start(([127, 0, 0, 1], nats.port()).into()).unwrap()
}

#[test]
fn what_came_in_a_cut_is_counted_exactly() {
    let nats = Nats::start().unwrap();
    let proxy = proxied(&nats);
    let mut system = System::connect(nats.port());
    system.stream("S", &["s.>"]);
    let mut one = opened(&channel(proxy.port(), &["s.a"], Some("S")));
    let mut several = opened(&channel(proxy.port(), &["s.a", "s.b"], Some("S")));
    system.ask_publish("s.a", "1");
    let mut keepers = [Keeper::default(), Keeper::default()];
    poll_for(&mut one, &mut keepers[0], 1);
    poll_for(&mut several, &mut keepers[1], 1);
    proxy.refuse();
    proxy.cut();
    for number in 2..=31 {
        let subject = ["s.a", "s.b", "s.c"][number % 3];
        system.ask_publish(subject, &format!("{number}"));
    }
    for (tap, keeper) in [&mut one, &mut several].into_iter().zip(&mut keepers) {
        poll_until_away(tap, keeper);
    }
    proxy.admit().unwrap();
    for ((tap, keeper), expect) in
        [&mut one, &mut several].into_iter().zip(&mut keepers).zip([10, 20])
    {
        let gap = poll_gap(tap, keeper);
        assert_eq!(gap.recovery, Recovery::Resumed { messages: expect });
        assert_eq!(keeper.0.len() as u64, 1 + expect);
    }
    system.ask_publish("s.a", "after");
    for (tap, keeper) in [&mut one, &mut several].into_iter().zip(&mut keepers) {
        poll_until(tap, keeper, |keeper| keeper.texts().last().unwrap() == "after");
    }
}

#[test]
fn a_stream_purged_meanwhile_is_missed_and_one_made_anew_has_other_positions() {
    let nats = Nats::start().unwrap();
    let proxy = proxied(&nats);
    let mut system = System::connect(nats.port());
    system.stream("S", &["s"]);
    let mut tap = opened(&channel(proxy.port(), &["s"], Some("S")));
    let mut keeper = Keeper::default();
    system.ask_publish("s", "1");
    poll_for(&mut tap, &mut keeper, 1);
    let mut outage = |change: &mut dyn FnMut(&mut System), expect| {
        proxy.refuse();
        proxy.cut();
        change(&mut system);
        poll_until_away(&mut tap, &mut keeper);
        proxy.admit().unwrap();
        assert_eq!(poll_gap(&mut tap, &mut keeper).recovery, expect);
    };
    outage(
        &mut |system| {
            system.ask_publish("s", "2");
            system.ask("STREAM.PURGE.S", serde_json::json!({}));
            system.ask_publish("s", "3");
        },
        Recovery::Missed,
    );
    outage(
        &mut |system| {
            system.ask("STREAM.DELETE.S", serde_json::json!({}));
            system.stream("S", &["s"]);
            system.ask_publish("s", "new 1");
        },
        Recovery::Missed,
    );
    outage(&mut |_| {}, Recovery::Resumed { messages: 0 });
    assert_eq!(keeper.texts(), ["1", "3", "new 1"]);
    let positions: Vec<_> = keeper
        .0
        .iter()
        .map(|kept| kept.position.unwrap())
        .map(|p| (p.partition, p.offset))
        .collect();
    assert_eq!(positions, [(0, 1), (0, 3), (1, 1)]);
}

/// Polls until the tap has noticed that its connection is gone.
fn poll_until_away(tap: &mut sojourn_broker_nats::NatsTap, keeper: &mut Keeper) {
    let deadline_ns = now_ns() + 20 * SECOND_NS;
    while !format!("{tap:?}").contains("away") {
        assert!(now_ns() < deadline_ns, "never noticed");
        tap.poll(std::time::Duration::from_millis(10), keeper).unwrap();
    }
}
