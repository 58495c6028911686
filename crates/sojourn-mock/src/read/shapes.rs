//! The mock file, name by name. Order here is the order in messages and in the schema.

use sojourn_plan::reading::Kind::{
    Any, Count, Duration, Either, Flag, Fraction, List, Map, Named, Number, Rate, Size, Text,
};
use sojourn_plan::reading::{CHANNEL, DATA, Field, HTTP, Kind, PUBLISH, Shape};

/// `700ms`, `exp(20ms)` …
const LATENCY: Kind = Text;

pub(super) static FILE: Shape = Shape {
    name: "the file",
    doc: "A mock file: what `sojourn mock` answers.",
    fields: &[
        Field::new("seed", Count, "Seed of everything random; 0 by default."),
        Field::new(
            "overrides",
            Flag,
            "Whether `delay=`, `status=`, `size=` and `close=` in a query change the answer; the \
             header `x-sojourn-mock` always may.",
        ),
        Field::new(
            "queue",
            Text,
            "Requests are served in order by a queue, such as `mm1:rate=100`; its service times \
             take the place of latencies.",
        ),
        Field::new(
            "channels",
            Named(&Map(&CHANNEL)),
            "Where callbacks publish, by name, as journey files have them.",
        ),
        Field::new("data", Named(&Map(&DATA)), "Rows from files, by name, for templates."),
        LATENCY_FIELD,
        FAULTS_FIELD,
        CLOSE_FIELD,
        Field::new("routes", List(&Map(&ROUTE)), "Routes; the first that fits answers.").required(),
    ],
};

const LATENCY_FIELD: Field = Field::new(
    "latency",
    LATENCY,
    "How long a request is held: `700ms`, `uniform(10ms, 50ms)`, `normal(100ms, 20ms)`, \
     `exp(20ms)`, `lognormal(p50=80ms, p99=600ms)`, `percentiles(p50=20ms, p99=300ms)` or \
     `recorded(run.sojourn)`.",
);
const FAULTS_FIELD: Field = Field::new("faults", Map(&FAULTS), "What goes wrong, by share.");
const CLOSE_FIELD: Field =
    Field::new("close", Fraction, "Share of answers that end their connection; `100%`: all.");
const STATUS_FIELD: Field = Field::new("status", Count, "Status; 200 by default.");
const HEADERS_FIELD: Field = Field::new("headers", Named(&Text), "Headers; templates in values.");
const JSON_FIELD: Field = Field::new("json", Any, "Body as JSON; templates in its text.");
const BODY: Kind = Either(&[Text, Map(&BODY_FILE)]);
const BODY_FIELD: Field =
    Field::new("body", BODY, "Body as text, or from a file; templates in it.");
const FILE_FIELD: Field =
    Field::new("file", Text, "Body from a file as it is, whatever is in it; no templates.");

pub(super) static ROUTE: Shape = Shape {
    name: "a route",
    doc: "Which requests, and what they are answered.",
    fields: &[
        Field::new(
            "route",
            Text,
            "Method and path, such as `POST /payments/{id}`, `/files/*` or `*`; no method: any.",
        )
        .required(),
        Field::new(
            "when",
            Kind::Conditions,
            "Conditions on the request: `header.NAME`, `query.NAME`, `path.NAME`, `cookie.NAME`, \
             `body`, `body.PATH`.",
        ),
        STATUS_FIELD,
        HEADERS_FIELD,
        JSON_FIELD,
        BODY_FIELD,
        FILE_FIELD,
        Field::new("answers", List(&Map(&ANSWER)), "Several answers with their shares."),
        LATENCY_FIELD,
        Field::new(
            "size",
            Either(&[Size, Named(&Fraction)]),
            "A body of so many bytes instead; or sizes with their shares.",
        ),
        FAULTS_FIELD,
        CLOSE_FIELD,
        Field::new(
            "limit",
            Either(&[Rate, Map(&LIMIT)]),
            "Most requests, such as `100/s`; beyond, 429 with Retry-After.",
        ),
        Field::new("degrade", List(&Map(&DEGRADE)), "How it gets worse over time."),
        Field::new("callbacks", List(&Map(&CALLBACK)), "What follows the answer."),
    ],
};

pub(super) static ANSWER: Shape = Shape {
    name: "an answer",
    doc: "One of several answers.",
    fields: &[
        Field::new("share", Fraction, "Share of the requests; without it, what is left over."),
        STATUS_FIELD,
        HEADERS_FIELD,
        JSON_FIELD,
        BODY_FIELD,
        FILE_FIELD,
        LATENCY_FIELD,
    ],
};

pub(super) static BODY_FILE: Shape = Shape {
    name: "a body",
    doc: "A body from a file; templates in it work.",
    fields: &[Field::new("file", Text, "File, relative to this one.").required()],
};

pub(super) static FAULTS: Shape = Shape {
    name: "the faults",
    doc: "What goes wrong beneath HTTP, each with its share of the answers.",
    fields: &[
        Field::new("close", Fraction, "The connection is closed without a byte."),
        Field::new("reset", Fraction, "The connection is broken off (RST)."),
        Field::new("silence", Fraction, "Nothing comes, and the connection stays open."),
        Field::new("truncate", Fraction, "Half of the body comes, then the connection ends."),
        Field::new("malformed", Fraction, "A chunk whose length is no number."),
        Field::new("dribble", Fraction, "The body comes in ten pieces."),
        Field::new("dribble_over", Duration, "Over this time; 1s by default."),
    ],
};

pub(super) static LIMIT: Shape = Shape {
    name: "a limit",
    doc: "Most requests, and how many may come at once.",
    fields: &[
        Field::new("rate", Rate, "Such as `100/s`.").required(),
        Field::new("burst", Count, "How many may come at once; 1 by default."),
    ],
};

pub(super) static DEGRADE: Shape = Shape {
    name: "a point of degradation",
    doc: "How bad it is at one instant; straight lines between such points.",
    fields: &[
        Field::new("at", Duration, "After the start.").required(),
        Field::new("latency", Number, "Latency is so many times the usual; 1 by default."),
        Field::new("errors", Fraction, "Share of requests answered 503; none by default."),
    ],
};

pub(super) static CALLBACK: Shape = Shape {
    name: "a callback",
    doc: "A webhook or a message that follows the answer.",
    fields: &[
        Field::new("after", LATENCY, "How long after the answer; at once by default."),
        Field::new("share", Fraction, "After what share of the answers; all by default."),
        Field::new("http", Map(&HTTP), "A webhook: a request to an absolute URL."),
        Field::new("publish", Map(&PUBLISH), "A message to a channel's broker."),
    ],
};
