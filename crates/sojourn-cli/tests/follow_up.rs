//! Journeys of several steps: setup, extraction, steps that follow a stage, weights.
