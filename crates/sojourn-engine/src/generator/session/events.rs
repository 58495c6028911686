//! Messages that clients publish and events that they wait for: how a client is suspended by them,
//! and how it goes on.

use std::collections::VecDeque;
use std::sync::Arc;

use smallvec::SmallVec;
use sojourn_broker::{Awaited, Outcome};
use sojourn_clock::MILLISECOND_NS;
use sojourn_http::FailureKind;
use sojourn_ledger::{Fact, Followed, JourneyId, Key, Phase};
use sojourn_metrics::Recorder;
use sojourn_session::{Answer, EventLoad, Expected, Input, OutgoingMessage};

use super::{
    SessionGenerator, World,
    accounts::{Accounts, Times},
    awaiting::{Awaiting, Overdue, Told, Wanted},
    inbox::{Arrived, Inbox},
    seat::{Expecting, Publishing, Seat},
};
use crate::generator::{
    outbox::Outbox,
    publishers::{Message, Publishers},
};

/// Header that carries the run marker, unless the script sets its own.
const MARKER_HEADER: &str = "sojourn-run";
/// The status of a message that the broker took.
const ACKNOWLEDGED: &str = "acknowledged";
/// The status of one that it refused.
const REFUSED: &str = "refused";
/// Events taken in before clients are looked at again.
const EVENTS_PER_TURN: usize = 4_096;
/// When waits are looked at again whose time is over by the clock while their tap has not seen that
/// far.
const LOOK_AGAIN_NS: u64 = MILLISECOND_NS;
/// Where a journey's number begins: above it stands the generator's.
const NUMBER_BITS: u32 = 48;

/// What a generator has for messages and events.
pub(super) struct Events {
    load: EventLoad,
    inbox: Inbox,
    awaiting: Awaiting,
    publishers: Publishers,
    outcomes: Vec<Outcome>,
    /// Clients that have what they waited for.
    told: VecDeque<Told>,
    taken: Vec<Told>,
    /// Journeys of events that have begun.
    begun: u64,
}

impl Events {
    pub(super) fn new(load: EventLoad, inbox: Inbox, publishers: Publishers) -> Self {
        Self {
            load,
            inbox,
            awaiting: Awaiting::default(),
            publishers,
            outcomes: Vec::new(),
            told: VecDeque::new(),
            taken: Vec::new(),
            begun: 0,
        }
    }

    /// Hands a message over: its client waits for the broker's word. False when there is no room
    /// for it, which is counted.
    pub(super) fn publish(
        &mut self,
        seat: &mut Seat,
        outgoing: &OutgoingMessage<'_>,
        (token, run_id, now): (u64, &str, u64),
        (accounts, recorder): (&mut Accounts, &mut Recorder),
    ) -> bool {
        let late_ns = seat.acts(now);
        let to = &self.load.published[outgoing.number];
        let mut headers: SmallVec<[(&str, &[u8]); 8]> =
            outgoing.headers().map(|(name, value)| (name, value.as_bytes())).collect();
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(MARKER_HEADER)) {
            headers.push((MARKER_HEADER, run_id.as_bytes()));
        }
        let message = Message {
            channel: to.channel,
            topic: &to.topic,
            key: outgoing.key.map(str::as_bytes),
            headers: &headers,
            payload: outgoing.payload.as_bytes(),
            timeout_ns: to.timeout_ns,
        };
        if let Err(why) = self.publishers.send(now, token, &message) {
            accounts.not_sent(seat.kind, to.step, &why, recorder);
            return false;
        }
        accounts.begun(late_ns, recorder);
        let sent_bytes = outgoing.payload.len() as u64;
        if let Some(events) = &mut seat.events {
            // A journey has fewer steps than numbers: its plan says so.
            let step = to.step as u16;
            events.publishing = Some(Publishing { step, began_ns: now, sent_bytes });
        }
        true
    }

    /// Lets a client wait for an event, and has the ledger follow the journey that begins here.
    /// False where there is no key, which is counted.
    pub(super) fn expect(
        &mut self,
        seat: &mut Seat,
        (number, key, count, within_ns): (usize, &str, u16, u64),
        (token, index, now): (u64, u32, u64),
        (accounts, recorder, outbox): (&mut Accounts, &mut Recorder, &mut Outbox),
    ) -> bool {
        let Expected { step, stage, begins } = self.load.expected[number];
        let due_ns = seat.due_ns;
        let (Some(events), Some(followed)) = (&mut seat.events, Key::new(key.as_bytes())) else {
            let times = Times { due_ns, began_ns: now, ended_ns: due_ns };
            accounts.event((seat.kind, step), times, Some("there is no key"), recorder);
            return false;
        };
        // A journey has fewer steps than numbers: its plan says so.
        events.expecting = Some(Expecting { step: step as u16, began_ns: now });
        events.waits(due_ns, now);
        if let Some(kind) = begins {
            let journey = JourneyId(u64::from(index) << NUMBER_BITS | self.begun);
            self.begun += 1;
            accounts.followed(kind, recorder);
            let fact = Fact::Followed(Box::new(Followed {
                journey,
                kind,
                phase: Phase::Steady,
                t0_ns: events.t0_ns,
                t1_ns: events.t1_ns,
                deadline_from_ns: due_ns,
                key: followed,
                label: None,
            }));
            outbox.push(now, fact);
        }
        let (key, since_ns) = (key.as_bytes().into(), seat.t0_ns);
        let until_ns = due_ns.saturating_add(within_ns);
        let wanted = Wanted { token, stage, key, since_ns, until_ns, count };
        if let Some(found) = self.awaiting.expect(wanted) {
            self.told.push_back((token, found));
        }
        true
    }

    /// Events that found no room since the last call.
    pub(super) fn take_refused(&self) -> u64 {
        self.inbox.take_refused()
    }

    /// Takes in what has come.
    fn hear(&mut self) {
        let (awaiting, taken) = (&mut self.awaiting, &mut self.taken);
        self.inbox.take(EVENTS_PER_TURN, |arrived| awaiting.hold(&arrived, taken));
        self.told.extend(self.taken.drain(..));
    }

    /// A wait whose time is over, which is known once the tap of its stage has seen that far, and
    /// at the latest when a tap that says nothing has made the run void.
    fn overdue(&mut self, now: u64, silent_max_ns: u64) -> Option<Overdue> {
        let Self { awaiting, inbox, load, .. } = self;
        awaiting.overdue(|stage| {
            let channel = load.channels.get(usize::from(stage)).copied().flatten();
            let taken_ns = channel.and_then(|channel| inbox.taken_ns().get(channel));
            let given_up_ns = now.saturating_sub(silent_max_ns);
            taken_ns.map_or(now, |taken_ns| now.min(given_up_ns.max(*taken_ns)))
        })
    }

    /// When there is something to do next.
    fn next_ns(&self, now: u64) -> u64 {
        if !self.told.is_empty() || !self.inbox.is_empty() {
            return now;
        }
        let overdue_ns = self.awaiting.next_ns().max(now.saturating_add(LOOK_AGAIN_NS));
        overdue_ns.min(self.publishers.next_ns())
    }
}

impl<W: World> SessionGenerator<W> {
    /// Lets clients go on whose events, or brokers' answers, have come, and those whose time is
    /// over; says when to look again.
    pub(super) fn hear_events(&mut self) -> u64 {
        let Some(events) = &mut self.events else { return u64::MAX };
        events.hear();
        let now = self.client.now_ns();
        let mut outcomes = std::mem::take(&mut events.outcomes);
        events.publishers.outcomes(now, &mut outcomes);
        // What they come to next is for the next turn.
        let told = std::mem::take(&mut events.told);
        for outcome in outcomes.drain(..) {
            self.published(outcome);
        }
        for (token, arrived) in told {
            self.arrived(token, &arrived);
        }
        let silent_max_ns = self.spec.plan.health.silent_max_ns;
        let next = |events: &mut Option<Box<Events>>| {
            events.as_mut().and_then(|it| it.overdue(now, silent_max_ns))
        };
        while let Some(overdue) = next(&mut self.events) {
            let why = match overdue.gone {
                0 => "no such event came in time".to_owned(),
                _ => "no such event came in time, or it had to make room for later ones".to_owned(),
            };
            self.missed(&overdue, &why);
        }
        let Some(events) = &mut self.events else { return u64::MAX };
        events.outcomes = outcomes;
        events.next_ns(now)
    }

    /// The broker has taken a message or refused it, or has not said so in time.
    fn published(&mut self, outcome: Outcome) {
        let Some(slot) = self.slot_of(outcome.token) else { return };
        let seat = &mut self.seats[slot];
        let publishing = seat.events.as_mut().and_then(|events| events.publishing.take());
        let Some(Publishing { step, began_ns, sent_bytes }) = publishing else { return };
        let ended_ns = outcome.acked_ns;
        let times = Times { due_ns: seat.due_ns, began_ns, ended_ns };
        let (status, why) = match outcome.error {
            None => (ACKNOWLEDGED, None),
            Some(why) if why == Awaited::NOT_ACKNOWLEDGED => {
                (FailureKind::Timeout.name(), Some(why))
            }
            Some(why) => (REFUSED, Some(why)),
        };
        let of = (seat.kind, usize::from(step));
        self.accounts.message(of, times, (status, why.as_deref()), &mut self.recorder);
        self.accounts.sent(of, sent_bytes, &mut self.recorder);
        seat.due_ns = ended_ns;
        self.go(slot, Input::Go, self.client.now_ns());
    }

    /// What a client waited for is there.
    fn arrived(&mut self, token: u64, arrived: &Arc<Arrived>) {
        let Some(slot) = self.slot_of(token) else { return };
        let seat = &mut self.seats[slot];
        // One that came before it was asked for was not waited for.
        let ended_ns = arrived.stamp_ns.max(seat.due_ns);
        let Some((of, times)) = expected(seat, ended_ns) else { return };
        self.accounts.event(of, times, None, &mut self.recorder);
        let headers: SmallVec<[(&str, &str); 8]> =
            arrived.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        let event = Answer { status: 0, headers: &headers, body: &arrived.body };
        self.go(slot, Input::Event(event), self.client.now_ns());
    }

    fn missed(&mut self, overdue: &Overdue, why: &str) {
        let Some(slot) = self.slot_of(overdue.token) else { return };
        let seat = &mut self.seats[slot];
        let Some((of, times)) = expected(seat, overdue.until_ns) else { return };
        // What comes next could not begin before this was known.
        seat.due_ns = overdue.known_ns;
        self.accounts.event(of, times, Some(why), &mut self.recorder);
        self.go(slot, Input::Missed, self.client.now_ns());
    }
}

/// Ends a client's wait; its session and step, and its times.
fn expected(seat: &mut Seat, ended_ns: u64) -> Option<((u16, usize), Times)> {
    let Expecting { step, began_ns } = seat.events.as_mut()?.expecting.take()?;
    let times = Times { due_ns: seat.due_ns, began_ns, ended_ns };
    seat.due_ns = ended_ns;
    Some(((seat.kind, usize::from(step)), times))
}
