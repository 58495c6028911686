//! A run on a Kubernetes cluster.
//!
//! ```text
//!   Job RUN              one pod: the coordinator, and beside it who keeps the results
//!    ├─ Service RUN      where generators (and senders of webhooks) find the coordinator
//!    ├─ Secret RUN       the plan's files and variables, the join key
//!    ├─ NetworkPolicies  who may connect to whom
//!    └─ Job RUN-generators   one pod for each generator, never replaced
//! ```
//!
//! The Job of the coordinator owns all others, so that one deletion (or its time to live) takes
//! everything away. There is no operator and no resource kind of our own: stock objects, made by
//! pure functions as plain JSON values ([`manifests`]). The cluster is spoken to through the user's
//! own `kubectl` ([`Kubectl`]), which knows every way of logging in.
//!
//! Words: a **run** is known in the cluster by its [`RunName`]; a **bundle** is what its processes
//! need of the user's machine; **results** are the files that the coordinator's pod hands over
//! before it goes ([`pod`]).
//!
//! Invariants: nothing is created that the cluster would refuse in part, since access is reviewed
//! and every object is tried first; no secret stands in any object but the Secret; pods have no
//! access to the cluster's API.

mod bundle;
mod cluster;
mod error;
pub mod image;
mod name;
mod objects;
pub mod pod;
mod wanted;
mod yaml;

pub use bundle::{Bundle, SECRET_BYTES_MAX};
pub use cluster::{
    Cluster, Denied, Ended, Events, Follow, Generators, Kubectl, LogLines, PodState, Seen,
    Standing, Unbegun,
};
pub use error::ClusterError;
pub use name::RunName;
pub use objects::{Subject, manifests, role};
pub use wanted::{Coordinating, Placement, Size, Times, Toleration, Wanted};
pub use yaml::documents;
