//! Reports from a run file: text, JSON, HTML.
