//! k6's words beside what the real k6 prints.

mod metrics;
