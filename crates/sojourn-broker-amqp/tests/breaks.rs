//! What the broker closes, and what it deletes.

use std::time::Duration;

use serde_json::{Value, json};
use sojourn_broker::{Gap, Recovery, Tap};
use sojourn_broker_amqp::AmqpTap;

use crate::system::{Kept, System, channel, rabbit, soon};

/// Polls until a gap has ended.
fn gap(tap: &mut dyn Tap, kept: &mut Kept) -> Gap {
    soon("the end of a gap", || {
        tap.poll(Duration::from_millis(5), kept).unwrap();
        tap.take_gaps().pop()
    })
}

#[test]
fn connections_that_the_broker_closes_are_made_again() {
    let rabbit = rabbit();
    let system = System::of(&rabbit);
    system.exchange("b.close", "fanout");
    let mut tap = AmqpTap::new(&channel(&rabbit, "b.close", &["#"])).unwrap();
    tap.open().unwrap();
    let mut kept = Kept::default();
    let connection = soon("the connection in the management", || {
        tap.poll(Duration::from_millis(1), &mut kept).unwrap();
        let (_, all) = system.ask("GET", "connections", &Value::Null);
        all.as_array()?.first()?["name"].as_str().map(str::to_owned)
    });
    let name = connection.replace(' ', "%20").replace('>', "%3E");
    system.delete(&format!("connections/{name}"));
    assert_eq!(gap(&mut tap, &mut kept).recovery, Recovery::Missed);
    system.publish("b.close", "k", &json!({}), "after");
    kept.until(&mut tap, 1);
}

#[test]
fn an_exchange_that_is_deleted_is_noticed_though_the_queue_stands() {
    let rabbit = rabbit();
    let system = System::of(&rabbit);
    system.exchange("b.gone", "topic");
    let mut tap = AmqpTap::new(&channel(&rabbit, "b.gone", &["a", "b"])).unwrap();
    tap.open().unwrap();
    let mut kept = Kept::default();
    system.delete("exchanges/%2f/b.gone");
    let mut mark_ns = 0;
    let mut same = 0;
    soon("noticing it", || {
        tap.poll(Duration::from_millis(1), &mut kept).unwrap();
        same = if tap.watermark_ns() == mark_ns { same + 1 } else { 0 };
        mark_ns = tap.watermark_ns();
        (same == 20).then_some(())
    });
    system.exchange("b.gone", "topic");
    assert_eq!(gap(&mut tap, &mut kept).recovery, Recovery::Missed);
    system.publish("b.gone", "b", &json!({}), "after");
    kept.until(&mut tap, 1);
}
