//! `sojourn demo`.
