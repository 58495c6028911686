//! What every client of AWS needs: keys and the region from where AWS's own tools take them, and
//! signatures of version 4, in a header or in a URL.
//!
//! It asks nobody: keys that a server hands out (of roles, of single sign-on) are those that
//! `aws configure export-credentials` puts into the environment.

mod credentials;
mod sign;

pub use credentials::{Credentials, Found, Variables, environment, find, find_in};
pub use sign::{Presigned, Unsigned, authorization, presigned, sha256};

/// What to do where there are no keys.
pub const NO_KEYS_HINT: &str =
    "`eval \"$(aws configure export-credentials --format env)\"` sets those of any login";
