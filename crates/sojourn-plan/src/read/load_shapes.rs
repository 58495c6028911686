//! The journey file's load entries, name by name.

use super::shape::Kind::{
    Choice, Count, Duration, Either, Fraction, List, Map, Named, Number, Rate, Text,
};
use super::shape::{Field, Shape};

pub(crate) static LOAD: Shape = Shape {
    name: "a load entry",
    doc: "A stream of arrivals (open), or a group of users (closed).",
    fields: &[
        Field::new("journey", Text, "The journey to start."),
        Field::new("journeys", Named(&Number), "Several, by weight; all by default."),
        Field::new(
            "arrivals",
            Choice(&["constant", "poisson", "replay"]),
            "Placement of arrivals; constant by default.",
        ),
        Field::new("rate", Rate, "Arrivals per time."),
        Field::new("from", Rate, "Rate at the start of the first of the `stages`; 0 by default."),
        Field::new("stages", List(&Map(&RATE_STAGE)), "Rates over time."),
        Field::new("spike", Map(&SPIKE), "A base rate with one peak."),
        Field::new("sine", Map(&SINE), "A wave."),
        Field::new("random", Map(&RANDOM), "A new rate every so often."),
        Field::new("file", Text, "Instants to replay, one per line."),
        Field::new("unit", Choice(&["s", "ms", "us", "ns"]), "Unit of plain numbers in `file`; s."),
        Field::new("count", Count, "Most arrivals."),
        Field::new("users", Either(&[Count, Map(&USERS)]), "Users, each starting anew at its end."),
        Field::new(
            "think",
            Either(&[Duration, Map(&THINK)]),
            "A user's pause between journeys; none by default.",
        ),
        Field::new("until", Choice(&["journey", "root"]), "What a user waits for; journey."),
        Field::new("iterations", Count, "Most journeys of all users together."),
        Field::new("warmup", Duration, "Counted apart; 0 by default."),
        Field::new("steady", Duration, "What is reported."),
        Field::new(
            "drain",
            Duration,
            "Longest wait for what is in flight; by default as long as a journey is watched.",
        ),
    ],
};

pub(crate) static RATE_STAGE: Shape = Shape {
    name: "a stage of a load",
    doc: "A stretch of an open load.",
    fields: &[
        Field::new("to", Rate, "In a straight line to this rate, `over` a time."),
        Field::new("over", Duration, "How long."),
        Field::new("rate", Rate, "This rate at once, `for` a time."),
        Field::new("sine", Map(&SINE), "A wave, `for` a time."),
        Field::new("random", Map(&RANDOM), "A new rate every so often, `for` a time."),
        Field::new("for", Duration, "How long."),
        Field::new("pause", Duration, "No arrivals for so long."),
    ],
};

pub(crate) static SPIKE: Shape = Shape {
    name: "a spike",
    doc: "A base rate with one peak.",
    fields: &[
        Field::new("base", Rate, "Rate before and after.").required(),
        Field::new("peak", Rate, "Rate of the peak.").required(),
        Field::new("at", Duration, "When the peak begins, from the start of the load.").required(),
        Field::new("for", Duration, "How long it lasts.").required(),
    ],
};

pub(crate) static SINE: Shape = Shape {
    name: "a sine",
    doc: "A wave around a mean; below zero it is zero.",
    fields: &[
        Field::new("mean", Rate, "Mean rate.").required(),
        Field::new("amplitude", Rate, "Swing around it.").required(),
        Field::new("period", Duration, "Length of a wave.").required(),
        Field::new("phase", Fraction, "Where in the wave it starts, 0 to 1; 0 by default."),
    ],
};

pub(crate) static RANDOM: Shape = Shape {
    name: "a random rate",
    doc: "A rate drawn anew every so often, uniformly.",
    fields: &[
        Field::new("min", Rate, "Least.").required(),
        Field::new("max", Rate, "Most.").required(),
        Field::new("every", Duration, "How long each rate holds.").required(),
    ],
};

pub(crate) static USERS: Shape = Shape {
    name: "the users",
    doc: "Users over time.",
    fields: &[
        Field::new("from", Count, "Users at the start; 0 by default."),
        Field::new("stages", List(&Map(&USER_STAGE)), "How their number changes.").required(),
    ],
};

pub(crate) static USER_STAGE: Shape = Shape {
    name: "a stage of users",
    doc: "A stretch of a closed load.",
    fields: &[
        Field::new("to", Count, "In a straight line to this many, `over` a time."),
        Field::new("over", Duration, "How long."),
        Field::new("users", Count, "This many at once, `for` a time."),
        Field::new("for", Duration, "How long."),
        Field::new("pause", Duration, "None for so long."),
    ],
};

pub(crate) static THINK: Shape = Shape {
    name: "a think time",
    doc: "A drawn pause: `min` and `max`, or `exponential`.",
    fields: &[
        Field::new("min", Duration, "Shortest, drawn uniformly up to `max`."),
        Field::new("max", Duration, "Longest."),
        Field::new("exponential", Duration, "Mean of an exponential pause."),
    ],
};
