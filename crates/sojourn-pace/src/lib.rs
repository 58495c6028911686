//! When arrival k is due, in closed form.
//!
//! A [`Profile`] is an intensity λ over time (arrivals per second, piecewise). A [`Schedule`] turns
//! it into instants: evenly paced, Poisson, or replayed. Everything random about arrival k is a
//! function of (seed, k), so every generator can walk the same sequence and send its own [`Share`].
//!
//! With Λ(t) = ∫₀ᵗ λ, the whole crate is one function, the instant at which Λ passes a level:
//!
//! ```text
//! instant(x) = inf { t : Λ(t) > x }
//!
//! constant   at(k) = instant(k)
//! Poisson    at(k) = instant(E₀ + … + E_k),   E_i = −ln(1 − u_i),   u_i = random_unit(seed, i)
//! replay     at(k) = the k-th given offset
//! ```
//!
//! "Passes", not "reaches": arrival 0 comes at the first instant with a positive intensity, a level
//! met exactly where a pause begins is passed when it ends, and 100/s for 30 s are the 3,000
//! arrivals 0 ms, 10 ms … 29,990 ms. A stretch of time thus always holds as many arrivals as its
//! integral.
//!
//! Every segment is solved from its own start and its own cumulative count, so no error builds up:
//!
//! - linear, r₀ → r₁ over T: Λ = r₀·t + s·t²/2 with s = (r₁ − r₀)/T, and so
//!   t = 2x / (r₀ + √(r₀² + 2·s·x)), a form of the root that cancels nothing;
//! - sine: whole waves times arrivals per wave, and the integral of the wave under way, solved by
//!   Newton's steps within a shrinking bracket;
//! - random steps: a row of constant segments.
//!
//! A change of rate while the load runs is an [`Amendment`] from a future instant on: the same
//! function over a course that bends there, so that arrivals before it stay where they are.
//!
//! Instants are rounded to the nearest nanosecond and stay below their segment's end. Counts are
//! exact up to 2⁵³ arrivals. Rates that are no number or negative count as zero, rates above 10⁹/s
//! as 10⁹/s.
//!
//! Offsets are nanoseconds from the start of the load; no clock and no thread is in here.

mod amendment;
mod curve;
mod profile;
mod random;
mod schedule;
mod share;
mod sine;

pub use amendment::Amendment;
pub use profile::{Profile, Segment};
pub use random::{random_u64, random_unit};
pub use schedule::{Arrivals, Schedule};
pub use share::Share;
