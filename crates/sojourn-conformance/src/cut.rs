//! Promise: a connection that is cut is had again; what came meanwhile is read or said to be
//! missing.

use std::time::Duration;

use sojourn_broker::{Backoff, BrokerError};
use sojourn_clock::now_ns;
use sojourn_services::CutProxy;

use crate::Rig;
use crate::account::{assert_each_once, assert_gap, assert_stood_still, messages};
use crate::listener::Listener;
use crate::rig::dead_address;

/// Cut (RST), and kept away while fifty messages are published: they are read when the tap is back
/// and counted as late, or the gap says that some may be missing.
pub fn a_connection_cut(rig: &mut dyn Rig) {
    let proxy = rig.proxy();
    let listener = Listener::open(rig, Some(proxy.address()));
    rig.publish(&messages(0..100));
    listener.wait_for_messages(100);
    let cut_ns = now_ns();
    proxy.refuse();
    assert!(proxy.cut() > 0, "the tap goes through the proxy");
    rig.publish(&messages(100..150));
    proxy.admit().unwrap();
    let admitted_ns = now_ns();
    goes_on(rig, listener, cut_ns, admitted_ns);
}

/// Frozen: nothing comes and nothing breaks. It is noticed within the rig's bound, and then as if
/// it had been cut.
pub fn a_connection_stalled(rig: &mut dyn Rig) {
    let proxy = rig.proxy();
    let listener = Listener::open(rig, Some(proxy.address()));
    rig.publish(&messages(0..100));
    listener.wait_for_messages(100);
    let stalled_ns = now_ns();
    proxy.stall();
    rig.publish(&messages(100..150));
    let bound = rig.abilities().stall_noticed;
    let bound_ns = stalled_ns + u64::try_from(bound.as_nanos()).unwrap();
    sojourn_clock::sleep_until(bound_ns);
    // What was noticed later would show here: the watermark beyond the bound.
    std::thread::sleep(Duration::from_secs(1));
    let watermark_ns = listener.book().watermarks.last().copied().unwrap_or(0);
    assert!(
        watermark_ns <= bound_ns,
        "the watermark moved for {} ms while nothing came",
        (watermark_ns - stalled_ns) / 1_000_000
    );
    assert_eq!(listener.book().count, 100, "nothing passes a stalled proxy");
    let resumed_ns = now_ns();
    proxy.resume();
    goes_on(rig, listener, stalled_ns, resumed_ns);
}

/// After a fault during which messages 100 to 149 were published.
#[track_caller]
fn goes_on(rig: &mut dyn Rig, listener: Listener, fault_ns: u64, mended_ns: u64) {
    let gaps = listener.wait_for_gaps(1);
    let keeps = rig.abilities().keeps_a_past;
    let late: u64 = gaps.iter().map(|gap| assert_gap(keeps, gap, fault_ns, mended_ns)).sum();
    rig.publish(&messages(150..200));
    if keeps {
        assert_eq!(late, 50, "messages published meanwhile: {gaps:?}");
        listener.wait_for_messages(200);
        listener.wait_for_watermark(now_ns());
        let (_tap, book) = listener.stop();
        assert_each_once(rig, &book, 0..200);
        book.gaps.iter().for_each(|gap| assert_stood_still(rig, &book, gap));
        return;
    }
    crate::patience::wait_until("what is published after the gap", || {
        let book = listener.book();
        assert_eq!(book.lost, None);
        let numbers = book.numbers(rig);
        (150..200).all(|number| numbers.contains(&number))
    });
    listener.wait_for_watermark(now_ns());
    let (_tap, book) = listener.stop();
    let mut numbers = book.numbers(rig);
    numbers.sort_unstable();
    let came = numbers.len();
    numbers.dedup();
    assert_eq!(numbers.len(), came, "each number at most once");
    book.gaps.iter().for_each(|gap| assert_stood_still(rig, &book, gap));
}

/// A connection that is not to be had again loses the tap after the time that it was given, and not
/// before.
pub fn a_connection_gone_for_good(rig: &mut dyn Rig) {
    let patience = Duration::from_secs(2);
    let proxy = rig.proxy();
    let channel = rig.channel(Some(proxy.address()));
    let mut tap = rig.connector().tap(&channel).unwrap();
    tap.give_up_after(patience);
    tap.open().unwrap();
    let listener = Listener::of(tap);
    rig.publish(&messages(0..10));
    listener.wait_for_messages(10);
    let cut_ns = now_ns();
    proxy.refuse();
    assert!(proxy.cut() > 0);
    let (error, lost_ns) = listener.wait_for_loss();
    // Counted from the last sign of life, which may be a little before the cut.
    let tried = Duration::from_nanos(lost_ns - cut_ns);
    assert!(tried > patience / 2, "given up after {tried:?}");
    assert!(tried < Backoff::GIVE_UP_AFTER, "it does not heed `give_up_after`: {tried:?}");
    assert_names(&error, &channel_words(rig, &proxy));
    // And it stays lost: no run goes on by a tap that has said so.
    let (mut tap, _book) = listener.stop();
    assert!(tap.poll(Duration::from_millis(10), &mut Nothing).is_err(), "it stays lost");
}

/// A server that is not there when the tap opens is an error that names broker and address.
pub fn nobody_there(rig: &mut dyn Rig) {
    let address = dead_address();
    let channel = rig.channel(Some(address));
    let error = match rig.connector().tap(&channel) {
        Err(error) => error,
        Ok(mut tap) => tap.open().unwrap_err(),
    };
    let word = channel.connector.word().to_owned();
    assert_names(&error, &[word, address.port().to_string()]);
    assert!(error.hint.is_some(), "what to do: {error}");
}

fn channel_words(rig: &dyn Rig, proxy: &CutProxy) -> Vec<String> {
    let word = rig.channel(None).connector.word().to_owned();
    vec![word, proxy.port().to_string()]
}

/// An error's text, with its hint, has these words, whatever their case.
#[track_caller]
pub(crate) fn assert_names(error: &BrokerError, words: &[String]) {
    let hint = error.hint.as_deref().unwrap_or_default();
    let text = format!("{} ({hint})", error.message).to_lowercase();
    for word in words {
        assert!(text.contains(&word.to_lowercase()), "`{word}` is not in: {text}");
    }
}

struct Nothing;

impl sojourn_broker::Sink for Nothing {
    fn message(&mut self, _message: &sojourn_broker::RawMessage<'_>) {}
}
