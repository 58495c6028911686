//! Interrupted and killed runs: what was measured is still there.
