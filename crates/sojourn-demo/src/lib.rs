//! A payments system to load: API, event store, relay, consumers, third parties, faults, ground truth.
