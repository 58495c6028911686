//! Java's key stores of the type JKS: private keys with their certificates, and certificates that
//! are trusted, out of the bytes of a file.
//!
//! ```text
//! FEEDFEED  version  count  entry …  SHA-1 of the password, "Mighty Aphrodite" and all before
//! ```
//!
//! [`KeyStore::read`] takes a store apart and holds it against its digest, which also says whether
//! the password is right. Private keys have a password of their own ([`KeyStore::key`]). What comes
//! out is DER, and [`pem`] writes it down. No file is opened here, and nothing is written into
//! stores.
//!
//! Bytes are foreign: lengths are never believed beyond what is there, and nothing is allocated
//! for what a store only claims to have.

mod bytes;
mod digest;
mod entries;
#[doc(hidden)]
pub mod foreign;
mod protector;
mod store;

pub use store::{KeyStore, PrivateKey, Problem, pem};
