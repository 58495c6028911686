//! The journey file, name by name. Order here is the order in messages and in the schema.

use super::batch::BATCH;
use super::channels::CHANNEL;
use super::clock::CLOCK;
use super::limits::LIMIT;
use super::load_shapes::LOAD;
use super::poison::POISON;
use super::publish::PUBLISH;
use super::resources::RESOURCE;
use super::shape::Kind::{
    Any, Conditions, Count, Duration, Either, Flag, Fraction, List, Map, Named, Number, Rate,
    Selector, Size, Text,
};
use super::shape::{Field, Kind, Shape};

pub(crate) static FILE: Shape = Shape {
    name: "the file",
    doc: "A journey file: what a run of Sojourn will do.",
    fields: &[
        Field::new("name", Text, "Name of the plan, for reports."),
        Field::new("suite", Text, "Suite the plan belongs to."),
        Field::new("labels", Named(&Text), "Labels of every run, such as a team or a service."),
        Field::new(
            "seed",
            Count,
            "Seed of everything random; 0 by default, so that two runs send the same.",
        ),
        Field::new(
            "trace",
            Flag,
            "Requests and messages carry a W3C trace context, and taps look for it; false.",
        ),
        Field::new("target", Text, "Base of relative URLs: http(s)://host[:port][/path]."),
        Field::new("allow_hosts", List(&Text), "Further hosts that redirects may go to."),
        Field::new("data", Named(&Map(&DATA)), "Rows from files, by name."),
        Field::new("channels", Named(&Map(&CHANNEL)), "What taps listen to, by name."),
        Field::new("setup", List(&Map(&STEP)), "Steps run once before the load."),
        Field::new("teardown", List(&Map(&STEP)), "Steps run once after the load."),
        Field::new("refresh", List(&Map(&REFRESH)), "Steps repeated during the run."),
        Field::new("journeys", Named(&Map(&JOURNEY)), "Journeys, by name.").required(),
        Field::new("load", Either(&[List(&Map(&LOAD)), Map(&LOAD)]), "How much, when.").required(),
        Field::new("limits", Named(&Map(&LIMIT)), "Limits to verify, by name."),
        Field::new(
            "thresholds",
            List(&Either(&[Text, Map(&THRESHOLD)])),
            "Conditions that the run must hold, such as `journey.payment.p99 < 25s`.",
        ),
        Field::new(
            "resources",
            List(&Map(&RESOURCE)),
            "What is read of the system's own resources while the load goes on.",
        ),
        Field::new("health", Map(&HEALTH), "When a run is void."),
    ],
};

/// A data source.
pub static DATA: Shape = Shape {
    name: "a data source",
    doc: "Rows of a file. Journey k takes row k, starting over at the end.",
    fields: &[Field::new("csv", Text, "CSV file whose first line names the columns.").required()],
};

const REQUEST: Kind = Either(&[Text, Map(&HTTP)]);
const KEY_RULE: Kind = Either(&[Text, Map(&KEY_MAP)]);
const NAME: Field = Field::new("name", Text, "Name, in reports and thresholds.");
const HTTP_FIELD: Field = Field::new("http", REQUEST, "The request; `GET /path` for short.");
const PUBLISH_FIELD: Field =
    Field::new("publish", Map(&PUBLISH), "A message to publish, instead of a request.");
const EXPECT: Field =
    Field::new("expect", Conditions, "Conditions on the answer; by default a 2xx or 3xx status.");
const EXTRACT: Field =
    Field::new("extract", Named(&Selector), "Values taken from the answer, by variable.");
const KEY: Field = Field::new(
    "key",
    KEY_RULE,
    "The journey's key: where it is in the answer, or a template that makes it.",
);

const RETRY_FIELD: Field =
    Field::new("retry", Map(&RETRY), "When it is tried again; by default never.");

const EVENTS: Kind = Either(&[Count, Map(&BATCH)]);
const BATCH_FIELD: Field = Field::new(
    "batch",
    EVENTS,
    "Events of so many journeys in each request: the body is one event.",
);

const CLOCK_FIELD: Field =
    Field::new("clock", Map(&CLOCK), "Where the answer shows the system's own time.");

const POISON_FIELD: Field = Field::new(
    "poison",
    Map(&POISON),
    "A share of the journeys that is sent so that some consumer must fail on it.",
);

pub(crate) static ROOT: Shape = Shape {
    name: "a root",
    doc: "The one request or message that starts a journey.",
    fields: &[
        NAME,
        HTTP_FIELD,
        PUBLISH_FIELD,
        EXPECT,
        EXTRACT,
        KEY,
        RETRY_FIELD,
        BATCH_FIELD,
        CLOCK_FIELD,
        POISON_FIELD,
        Field::new("trace", Flag, "Carry a trace context; as the file says by default."),
    ],
};

pub(crate) static STEP: Shape = Shape {
    name: "a step",
    doc: "A named request or message.",
    fields: &[
        NAME.required(),
        HTTP_FIELD,
        PUBLISH_FIELD,
        EXPECT,
        EXTRACT,
        KEY,
        RETRY_FIELD,
        BATCH_FIELD,
        CLOCK_FIELD,
        POISON_FIELD,
        Field::new("after", Text, "Stage to wait for; without it the step is part of the root."),
    ],
};

pub(crate) static RETRY: Shape = Shape {
    name: "a retry",
    doc: "Another attempt of a root step: same journey, same start, same deadline.",
    fields: &[
        Field::new("attempts", Count, "Most attempts, the first one included; 2 to 10.").required(),
        Field::new(
            "on",
            Either(&[Text, List(&Text)]),
            "After what: `timeout`, `connect`, `reset`, a status (`429`) or a class of them \
             (`5xx`); by default timeout, connect, reset and 5xx.",
        ),
        Field::new(
            "backoff",
            Duration,
            "Pause before the second attempt, doubled before each further one; 100ms by default.",
        ),
    ],
};

pub(crate) static REFRESH: Shape = Shape {
    name: "a refresh step",
    doc: "A request repeated during the run, such as a token's renewal.",
    fields: &[
        Field::new("every", Duration, "How often.").required(),
        NAME.required(),
        HTTP_FIELD.required(),
        EXPECT,
        EXTRACT,
    ],
};

pub(crate) static KEY_MAP: Shape = Shape {
    name: "a key",
    doc: "A key and the text around it.",
    fields: &[
        Field::new("from", Selector, "Where the value is.").required(),
        Field::new("as", Text, "Text around the value in place of `{}`, such as `pay:{}`."),
    ],
};

/// An HTTP request.
pub static HTTP: Shape = Shape {
    name: "an HTTP request",
    doc: "An HTTP request. Templates `{{ … }}` in path, query, headers and body.",
    fields: &[
        Field::new("method", Text, "Method; POST with a body, else GET."),
        Field::new("url", Text, "URL, absolute or relative to the target.").required(),
        Field::new("headers", Named(&Text), "Headers."),
        Field::new("json", Any, "Body as JSON."),
        Field::new("body", Either(&[Text, Map(&BODY_FILE)]), "Body as text, or from a file."),
        Field::new("form", Named(&Text), "Body as form fields."),
        Field::new("timeout", Duration, "10s by default."),
        Field::new("redirects", Count, "Most redirects followed; 0 by default."),
        Field::new("body_max", Size, "Most body bytes kept; 10MB by default."),
    ],
};

pub(crate) static BODY_FILE: Shape = Shape {
    name: "a body",
    doc: "A body from a file; templates in it work.",
    fields: &[Field::new("file", Text, "File, relative to this one.").required()],
};

pub(crate) static JOURNEY: Shape = Shape {
    name: "a journey",
    doc: "One root action and the events it causes.",
    fields: &[
        Field::new("root", Map(&ROOT), "The request that starts it."),
        Field::new("steps", List(&Map(&STEP)), "Several requests, instead of `root`."),
        Field::new(
            "stages",
            List(&Either(&[Map(&STAGE), Map(&ONE_OF)])),
            "Points to reach. None: an API test.",
        ),
        Field::new("within", Duration, "Deadline, from the scheduled start."),
        Field::new(
            "linger",
            Duration,
            "How long it is watched beyond the deadline; half of `within`, at least 10s.",
        ),
        Field::new("weight", Number, "Share of load entries that name no journey; 1 by default."),
        Field::new(
            "label",
            Text,
            "Whose it is, such as `{{ row.tenants.name }}`: figures per label, and their fairness.",
        ),
    ],
};

pub(crate) static STAGE: Shape = Shape {
    name: "a stage",
    doc: "A point that a journey must, may or must not reach.",
    fields: &[
        NAME.required(),
        Field::new("on", Text, "Channel on which its event is seen."),
        Field::new("match", Conditions, "Which events."),
        Field::new(
            "key",
            Either(&[Selector, Map(&KEY_MAP)]),
            "Where the event has the journey's key.",
        ),
        Field::new("check", Conditions, "What must hold for the event, else the journey fails."),
        Field::new("poll", Map(&POLL), "A state to ask for, instead of an event."),
        Field::new(
            "after",
            Text,
            "Stage its hop counts from; by default the required one declared before it.",
        ),
        Field::new("optional", Flag, "It may be reached."),
        Field::new("never", Flag, "It must not be reached."),
        Field::new("failure", Flag, "Reaching it is a terminal failure, such as a dead letter."),
        Field::new("reason", Selector, "Where the event of a failure says why."),
        Field::new(
            "rekey",
            Either(&[Selector, Map(&KEY_MAP)]),
            "Where its event has a further key, under which later events of the journey come.",
        ),
        Field::new(
            "expect",
            Either(&[Count, Map(&TOLD)]),
            "How many distinct members reach it, or where that is said; 1 by default.",
        ),
        Field::new("member", Selector, "What tells members apart."),
        Field::new("clock", Map(&CLOCK), "Where its event shows the system's own time."),
        Field::new("shared", Flag, "An event counts for this stage even if another took it."),
    ],
};

pub(crate) static ONE_OF: Shape = Shape {
    name: "an alternative",
    doc: "A journey is complete with one of these stages; reaching a second one is a violation.",
    fields: &[Field::new("one_of", List(&Text), "Names of stages of this journey, two or more.")
        .required()],
};

pub(crate) static TOLD: Shape = Shape {
    name: "an expected number",
    doc: "How many distinct members reach the stage: a number in an event or an answer.",
    fields: &[
        Field::new("from", Selector, "Where the number, or the list whose length it is, stands.")
            .required(),
        Field::new("of", Text, "Stage or step whose event or answer has it; the stage's own."),
    ],
};

pub(crate) static POLL: Shape = Shape {
    name: "a poll",
    doc: "A request repeated until its answer fits.",
    fields: &[
        Field::new("http", Either(&[Text, Map(&HTTP)]), "The request; `GET /path` for short."),
        Field::new("url", Text, "A GET of this URL, instead of `http`."),
        Field::new("every", Duration, "Interval; 500ms by default."),
        Field::new("until", Conditions, "What the answer must hold.").required(),
        Field::new("budget", Rate, "Most requests of all journeys together; 50/s by default."),
    ],
};

pub(crate) static THRESHOLD: Shape = Shape {
    name: "a threshold",
    doc: "A condition with more to say.",
    fields: &[
        Field::new("threshold", Text, "The condition, such as `lost == 0`.").required(),
        Field::new("abort", Flag, "Stop the run as soon as it fails."),
    ],
};

pub(crate) static HEALTH: Shape = Shape {
    name: "the health limits",
    doc: "Limits beyond which a run is void: its numbers may not be believed.",
    fields: &[
        Field::new("missed_max", Fraction, "Most arrivals missed; 0.1%."),
        Field::new("delivered_min", Fraction, "Least delivered of those scheduled; 99.5%."),
        Field::new("lag_p99_max", Duration, "Most lag at p99; 10ms."),
        Field::new("lag_share_max", Fraction, "Or this share of the response p50, if larger; 10%."),
        Field::new("busy_max", Fraction, "Most of a generator thread's time in use; 95%."),
        Field::new("busy_for", Duration, "For so long; 10s."),
        Field::new("tap_behind_max", Duration, "Most that a tap may be behind; 1s."),
        Field::new("silent_max", Duration, "How long a source may be silent; 1s."),
    ],
};
