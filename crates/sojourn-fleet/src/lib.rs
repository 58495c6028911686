//! What carries a link between a coordinator and generators on other machines.
//!
//! ```text
//!   engine <──socket pair──> link <══ TLS over TCP ══> link <──socket pair──> engine
//!                                  dialled anew after a cut
//! ```
//!
//! Generators dial the coordinator ([`join`]) and prove that they know the run's [`JoinKey`]. From
//! then on each has a byte stream in either direction that is what a Unix socket is to processes of
//! one machine, so that whoever talks over it need not know of machines. Both ends keep what the
//! other has not acknowledged and send it again over the next connection: a cut loses nothing, as
//! long as there is a connection again in time. Both ends are heard of several times a second; one
//! that is not is cut off.
//!
//! Words: a **member** is a generator's process as the coordinator knows it; a **cut** is the end
//! of a connection that was not the end of the stream.
//!
//! Invariants: nothing is read from anybody who has not proved the key but one frame, within
//! seconds. Every buffer has a bound. No wait is without an end.

mod bell;
mod channel;
mod clock;
mod dial;
mod error;
mod frame;
mod greeting;
mod join;
mod key;
mod listener;
mod member;
mod pump;
mod resume;
mod tls;

pub use clock::ClockFigures;
pub use error::FleetError;
pub use frame::{Decoder, Frame, FrameError};
pub use join::{JoinAt, Joining, Left};
pub use key::{JoinKey, KEY_VARIABLE};
pub use listener::{Listen, Listening};
pub use member::{MemberEnd, MemberState, Standing};
pub use resume::{Chunk, Incoming, Outgoing, ResumeError, WINDOW_BYTES};
