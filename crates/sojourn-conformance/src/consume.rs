//! Promise: a consumer is a real member of a group: it takes, commits, and what it did not commit
//! comes again.

use std::collections::BTreeSet;
use std::time::Duration;

use sojourn_broker::{Consumer, RawMessage, Sink, Start};

use crate::account::messages;
use crate::patience::wait_until;
use crate::{Message, Rig, Seen};

const GROUP: &str = "conformance";
/// Numbers from here on only make sure that the group has begun.
const WARMING_UP: u64 = 1_000_000;

/// Ten messages taken and committed do not come again; ten more, taken and not committed, do, to
/// the next member, with all others.
pub fn what_was_not_committed_comes_again(rig: &mut dyn Rig) {
    let mut first = member(rig);
    warm_up(rig, std::slice::from_mut(&mut first));
    rig.publish(&messages(0..40));
    let committed = take(rig, first.as_mut(), 10);
    first.commit().unwrap();
    let uncommitted = take(rig, first.as_mut(), 10);
    assert!(uncommitted.is_disjoint(&committed));
    first.leave();
    assert_eq!(first.assigned(), 0, "it has left");
    assert!(first.consume(1, Duration::ZERO, &mut Taken::default()).is_err(), "it has left");
    let mut second = member(rig);
    let again = take(rig, second.as_mut(), 30);
    let expected: BTreeSet<u64> = (0..40).filter(|number| !committed.contains(number)).collect();
    assert_eq!(again, expected, "what comes to the second member");
    assert!(uncommitted.is_subset(&again));
    second.commit().unwrap();
    second.leave();
    rig.publish(&messages(40..45));
    let mut third = member(rig);
    assert_eq!(take(rig, third.as_mut(), 5), (40..45).collect(), "only what is new");
    third.commit().unwrap();
    third.leave();
}

/// Two members take each message once between them.
pub fn members_share_the_messages(rig: &mut dyn Rig) {
    let mut members = [member(rig), member(rig)];
    warm_up(rig, &mut members);
    rig.publish(&messages(0..60));
    let mut taken = Vec::new();
    wait_until("all messages between the members", || {
        for member in &mut members {
            taken.extend(take_once(rig, member.as_mut(), 7));
            member.commit().unwrap();
        }
        taken.len() >= 60
    });
    taken.sort_unstable();
    assert_eq!(taken, (0..60).collect::<Vec<_>>());
    members.into_iter().for_each(|mut member| member.leave());
}

#[track_caller]
fn member(rig: &dyn Rig) -> Box<dyn Consumer> {
    rig.connector().consumer(&rig.channel(None), GROUP, Start::Latest).unwrap()
}

/// A new group may begin at the end: publishes until it takes something, then commits. Members are
/// polled in turn, for one can join only when the others take part.
fn warm_up(rig: &mut dyn Rig, members: &mut [Box<dyn Consumer>]) {
    fn poll(members: &mut [Box<dyn Consumer>]) -> usize {
        let each = |member: &mut Box<dyn Consumer>| {
            member.consume(10, Duration::from_millis(100), &mut Taken::default()).unwrap()
        };
        members.iter_mut().map(each).sum()
    }
    wait_until("the group is joined", || {
        poll(members);
        members.iter().all(|member| member.assigned() > 0)
    });
    let mut number = WARMING_UP;
    wait_until("the first message of the group", || {
        // Of every key: a group that has committed nothing of a partition may begin it anew.
        rig.publish(&(number..number + 14).map(Message::numbered).collect::<Vec<_>>());
        number += 14;
        poll(members) > 0
    });
    // And the rest of them.
    let mut quiet = 0;
    wait_until("nothing more of the warming up", || {
        quiet = if poll(members) == 0 { quiet + 1 } else { 0 };
        quiet >= 6
    });
    members.iter_mut().for_each(|member| member.commit().unwrap());
}

/// Takes exactly so many.
#[track_caller]
fn take(rig: &dyn Rig, member: &mut dyn Consumer, count: usize) -> BTreeSet<u64> {
    let mut taken = BTreeSet::new();
    wait_until(&format!("{count} messages taken"), || {
        taken.extend(take_once(rig, member, count - taken.len()));
        taken.len() >= count
    });
    taken
}

fn take_once(rig: &dyn Rig, member: &mut dyn Consumer, messages_max: usize) -> Vec<u64> {
    let mut sink = Taken::default();
    // What keeps a member alive between two calls takes nothing from it.
    member.idle();
    let count = member.consume(messages_max, Duration::from_millis(100), &mut sink).unwrap();
    assert_eq!(count, sink.0.len(), "as many as it says");
    assert!(count <= messages_max, "no more than asked for");
    let numbers = sink.0.iter().filter_map(|seen| rig.number(seen));
    numbers.filter(|number| *number < WARMING_UP).collect()
}

#[derive(Default)]
struct Taken(Vec<Seen>);

impl Sink for Taken {
    fn message(&mut self, message: &RawMessage<'_>) {
        self.0.push(Seen::of(message));
    }
}
