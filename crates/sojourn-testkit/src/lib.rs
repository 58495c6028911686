//! Fake peers with known truth for tests: frozen servers, misbehaving servers, a queue of known theory.
