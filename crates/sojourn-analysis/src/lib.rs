//! What the numbers mean: backlog slope, drain, each hop's share; pure functions.
