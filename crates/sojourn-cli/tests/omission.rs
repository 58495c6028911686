//! Coordinated omission: a server that freezes shows in the response times.
