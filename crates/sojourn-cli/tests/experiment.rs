//! The published experiment, with every event counted for its own journey.
