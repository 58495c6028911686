//! Attacks: the plan that command-line flags make, and the targets it is aimed at.
//!
//! An *attack* sends requests to *targets*, hit k to target k mod n, under a *pace*. It has no
//! stages: each hit is a journey of one step, and every target (by its name, else by method and
//! address) is a step, so that reports break figures down by target.
//!
//! Target formats and rate words are Vegeta's; their oddities that lose data are errors here.

mod builder;
mod http_targets;
mod json_targets;
mod pace;
mod reader;
mod target;

pub use builder::{AttackLoad, attack_plan, step_of};
pub use pace::{Pace, PaceError};
pub use reader::{BodyFiles, TargetFormat, TargetReader};
pub use target::{Target, TargetDefaults, TargetError, header_of};
