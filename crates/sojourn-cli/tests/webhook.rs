//! Stages seen as webhooks.
