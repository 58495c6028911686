//! What clients tell beside the figures: lines of the user's log, and all that they do where
//! somebody looks on, which is in validations only.

use sojourn_http::Completion;
use sojourn_session::{LogLine, Shown, Trace, Traced};

use super::seat::Seat;
use crate::sessions::Sessions;

/// Tells who looks on what a client does; `what` is only made then. What finds no room is missing,
/// which its number shows.
pub(super) fn tell(
    sessions: &Sessions,
    seat: &mut Seat,
    at_ns: u64,
    what: impl FnOnce(&Seat) -> Trace,
) {
    let Some(trace) = &sessions.trace else { return };
    let what = what(seat);
    let (session, client, number) = (usize::from(seat.kind), seat.number, seat.told);
    seat.told = seat.told.wrapping_add(1);
    // Nobody is waited for: the number tells that this one is missing.
    let _ignored = trace.try_send(Traced { at_ns, session, client, number, what });
}

/// Writes to the user's log; false when there was no room for the line.
pub(super) fn log(sessions: &Sessions, seat: &mut Seat, at_ns: u64, text: &str) -> bool {
    let line = || LogLine::new(at_ns, usize::from(seat.kind), seat.number, text);
    let has_room = sessions.log.as_ref().is_none_or(|log| log.try_send(line()).is_ok());
    tell(sessions, seat, at_ns, |seat| {
        let line = LogLine::new(at_ns, usize::from(seat.kind), seat.number, text);
        Trace::Logged(line.text)
    });
    has_room
}

/// What came of a request.
pub(super) fn of_completion(completion: &Completion) -> Trace {
    let after_ns = completion.ended_ns.saturating_sub(completion.began_ns);
    match &completion.outcome {
        Ok(response) => Trace::Answered {
            head: Shown::of(&response.head),
            body: Shown::of_more(&response.body, response.body_bytes),
            after_ns,
        },
        Err(failure) => Trace::Unanswered { why: failure.detail.clone(), after_ns },
    }
}

/// A request that is not sent.
pub(super) fn refused(url: &str, why: &str) -> Trace {
    Trace::Refused { url: url.to_owned(), why: why.to_owned() }
}
