//! Closed loads: users, think time, counts.
