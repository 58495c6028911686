//! Against real servers that speak SQS and SNS: the promises of every connector, and those of this
//! one.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod age;
mod before;
mod behind;
mod client;
mod conformance;
mod own;
mod rig;
mod sns;
mod sns_client;
mod sns_conformance;
mod sns_keys;
mod sns_rig;
mod tls;
mod topic;
