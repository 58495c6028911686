//! The names of Sojourn's own metrics: the contract between the engine, which writes them, and
//! thresholds and reports, which read them.
//!
//! Each constant says what the series counts or measures and, in braces, its tags. Series of a
//! journey carry the phase of its t0 ([`crate::SeriesPhase::WarmUp`] or `Steady`) unless "phase
//! Any" stands beside them. Trends are nanoseconds unless another unit stands beside them.

/// Tag: the journey's name; of poisoned ones [`poisoned`] of it.
pub const JOURNEY: &str = "journey";
/// Tag: the stage's name.
pub const STAGE: &str = "stage";
/// Tag: the step's name.
pub const STEP: &str = "step";
/// Tag: the channel's name.
pub const CHANNEL: &str = "channel";
/// Tag: an HTTP status, or `none` where no response came.
pub const STATUS: &str = "status";
/// Status and reason: a limit of the generator's own machine, which the target never saw.
pub const LOCAL_LIMIT: &str = "local limit";
/// Tag: why a step failed, in a word or two; why a journey did, in the system's words.
pub const REASON: &str = "reason";
/// Tag: what failed a journey: `stage S`, `check of stage S` or `follow-up step`.
pub const WHAT: &str = "what";
/// Tag: whose trace an event carries: `own`, `other` or `none`.
pub const CONTEXT: &str = "context";
/// Tag: the number of an attempt, from 1.
pub const ATTEMPT: &str = "attempt";
/// Tag: how a duplicate came to be: `redelivery`, `republication` or `unknown`.
pub const KIND: &str = "kind";
/// Tag: the bounded queue or table that refused something.
pub const QUEUE: &str = "queue";
/// Tag: the thread's name.
pub const THREAD: &str = "thread";
/// Tag: the name of a process of generators. Series of processes have none where they are of the
/// one that coordinates.
pub const PROCESS: &str = "process";
/// Tag: the generator's number.
pub const GENERATOR: &str = "generator";
/// Tag: the consumer group, consumer, queue or table whose backlog it is.
pub const OF: &str = "of";
/// Tag: which figure of a backlog: `waiting`, `unacknowledged`, `redelivered`, `kept`,
/// `oldest_age_ms`. Of a resource: [`CORES`] and those below it.
pub const FIGURE: &str = "figure";
/// Tag: the resource's name; of a query with several series with their labels, `NAME{pod=a}`.
pub const RESOURCE_NAME: &str = "resource";
/// Figure of a resource: cores in use over the second, of a process with its children.
pub const CORES: &str = "cores";
/// Figure of a resource: cores that the busiest one of a process's threads used over the second.
pub const BUSIEST_THREAD_CORES: &str = "busiest_thread_cores";
/// Figure of a resource: cores that it may use at once, where that is fewer than the machine has.
pub const LIMIT_CORES: &str = "limit_cores";
/// Figure of a resource: cores of its machine.
pub const MACHINE_CORES: &str = "machine_cores";
/// Figure of a resource: memory, bytes: resident of processes, charged to control groups.
pub const MEMORY_BYTES: &str = "memory_bytes";
/// Figure of a resource: open descriptors.
pub const DESCRIPTORS: &str = "descriptors";
/// Figure of a resource: threads.
pub const THREADS: &str = "threads";
/// Figure of a resource: share of the periods of the second in which its quota was used up.
pub const THROTTLED_SHARE: &str = "throttled_share";
/// Figure of a resource: how long its threads were held back over the second, added up, seconds.
pub const THROTTLED_S: &str = "throttled_s";
/// Figure of a resource: what a query yields, in whatever unit it has.
pub const VALUE: &str = "value";

/// Tag: whose journey it is, by the plan's label.
pub const LABEL: &str = "label";
/// Tag: how a journey ended: `completed`, `late`, `lost`, `failed`, `root_failed`,
/// `in_flight_at_cutoff`.
pub const CLASS: &str = "class";
/// Class: not seen complete when observation ended.
pub const LOST: &str = "lost";
/// Label: all those beyond the number that is told apart.
pub const OTHER_LABELS: &str = "(others)";
/// Counter {journey, label, class}: journeys of a label that ended so.
pub const LABEL_ENDED: &str = "label.ended";
/// Trend {journey, label}: t0 to the end of those that completed, late ones too.
pub const LABEL_DURATION: &str = "label.duration";

/// Tag: the limit's name.
pub const LIMIT: &str = "limit";

/// Counter {limit, what}, phase Any: journeys that a limit was held against.
pub const LIMIT_COUNTED: &str = "limit.counted";
/// Counter {limit, what}, phase Any: of those, journeys that were one too many, or too early.
pub const LIMIT_VIOLATIONS: &str = "limit.violations";
/// Counter {limit, what}, phase Any: journeys that ended between a limit's two stages.
pub const LIMIT_UNFINISHED: &str = "limit.unfinished";
/// Gauge {limit, what}, phase Any: most journeys at once, or in any one period.
pub const LIMIT_MOST: &str = "limit.most";
/// Gauge {limit, what}, phase Any: when the first violation was, seconds from the run's start.
pub const LIMIT_FIRST_S: &str = "limit.first_s";
/// Gauge {limit, what}, phase Any: how much earlier than a rate allows a journey came at most,
/// milliseconds, tolerance and all.
pub const LIMIT_EARLY_MS: &str = "limit.early_ms";

/// Tag: a foreign clock's name.
pub const CLOCK: &str = "clock";

/// Trend {clock}, phase Any: what a reading was ahead of our clock at the instant at which it was
/// read: the offset is no less.
pub const CLOCK_OFFSET_LEAST: &str = "clock.offset_least";
/// Trend {clock}, phase Any: the magnitudes of those that were behind.
pub const CLOCK_OFFSET_LEAST_NEGATIVE: &str = "clock.offset_least_negative";
/// Trend {clock}, phase Any: what the end of an answer's millisecond was ahead of our clock when
/// the request began to be sent: the offset is no more.
pub const CLOCK_OFFSET_MOST: &str = "clock.offset_most";
/// Trend {clock}, phase Any: the magnitudes of those that were behind.
pub const CLOCK_OFFSET_MOST_NEGATIVE: &str = "clock.offset_most_negative";
/// Counter {clock, reason}, phase Any: answers and events that did not show the clock: `missing`,
/// or `not a ULID`.
pub const CLOCK_UNREAD: &str = "clock.unread";
/// Trend {clock}, phase Any: when a reading first contradicted those before it, from the run's
/// start; one sample for each process that watched.
pub const CLOCK_CONTRADICTED: &str = "clock.contradicted";
/// Trend {clock, journey, step}: a step's due instant to the time that its answer shows, at least.
pub const CLOCK_ACCEPT_LEAST: &str = "clock.accept_least";
/// Trend {clock, journey, step}: the same at most.
pub const CLOCK_ACCEPT_MOST: &str = "clock.accept_most";
/// Trend {clock, journey, stage}: the time that the first answer shows to the time that the stage's
/// event shows, both as the clock shows them.
pub const CLOCK_BETWEEN: &str = "clock.between";
/// Trend {clock, journey, stage}: the magnitudes of those that went backwards.
pub const CLOCK_BETWEEN_NEGATIVE: &str = "clock.between_negative";
/// Trend {clock, journey, stage}: the time that the stage's event shows to its observation, at
/// least.
pub const CLOCK_SEEN_LEAST: &str = "clock.seen_least";
/// Trend {clock, journey, stage}: the same at most.
pub const CLOCK_SEEN_MOST: &str = "clock.seen_most";

/// Counter {journey}: arrivals that were due.
pub const JOURNEYS_SCHEDULED: &str = "journeys.scheduled";
/// Counter {journey}: arrivals that were due and could not be started.
pub const JOURNEYS_MISSED: &str = "journeys.missed";
/// Counter {journey}: journeys whose root was begun.
pub const JOURNEYS_STARTED: &str = "journeys.started";
/// Counter {journey}: journeys of which everything required happened by t0 + within.
pub const JOURNEYS_COMPLETED: &str = "journeys.completed";
/// Counter {journey}: journeys completed after t0 + within, while still observed.
pub const JOURNEYS_LATE: &str = "journeys.late";
/// Counter {journey}: journeys overdue when their observation ended.
pub const JOURNEYS_LOST: &str = "journeys.lost";
/// Counter {journey}: journeys that reached a terminal failure.
pub const JOURNEYS_FAILED: &str = "journeys.failed";
/// Counter {journey, what, reason}: the same by what failed them, and the system's own words where
/// the stage takes them from its event (else empty).
pub const JOURNEYS_FAILED_BY: &str = "journeys.failed_by";
/// Counter {journey}: journeys whose root was refused or unanswered.
pub const JOURNEYS_ROOT_FAILED: &str = "journeys.root_failed";
/// Counter {journey}: journeys cut off before their deadline by the end of the run.
pub const JOURNEYS_IN_FLIGHT_AT_CUTOFF: &str = "journeys.in_flight_at_cutoff";
/// Counter {journey}: stages reached whose predecessor never was, so that they have no hop.
pub const JOURNEYS_HOPS_WITHOUT_PREDECESSOR: &str = "journeys.hops_without_predecessor";
/// Counter {journey}: journeys whose key was in flight already.
pub const KEY_REUSED: &str = "key_reused";
/// Counter {journey, step}: requests with several events of which every one was accepted.
pub const BATCHES_WHOLE: &str = "batches.whole";
/// Counter {journey, step}: requests with several events of which some were accepted.
pub const BATCHES_PART: &str = "batches.part";
/// Counter {journey, step}: requests with several events of which none was accepted.
pub const BATCHES_REFUSED: &str = "batches.refused";
/// Counter {journey, step}: events of such requests that were accepted.
pub const BATCH_EVENTS_ACCEPTED: &str = "batch.events_accepted";
/// Counter {journey, step, reason}: events of such requests that were not: failed roots.
pub const BATCH_EVENTS_REFUSED: &str = "batch.events_refused";
/// Trend {journey, step}: completed − due of the request, a sample for each event accepted.
pub const BATCH_EVENT_ACCEPT: &str = "batch.event_accept";
/// Counter {journey, stage}: journeys that reached the stage.
pub const STAGE_REACHED: &str = "stage.reached";
/// Counter {journey, stage}: events that reached the stage or were one of its members.
pub const STAGE_MATCHED: &str = "stage.matched";
/// Counter {journey, stage, kind}: events that repeated a (journey, stage, member).
pub const STAGE_DUPLICATES: &str = "stage.duplicates";
/// Counter {journey, stage}: journeys that reached this alternative after another one of its group.
pub const STAGE_SECOND_BRANCH: &str = "stage.second_branch";
/// Counter {journey, stage, context}: matched events by the trace they carry: `own` (their
/// journey's), `other` or `none`; of journeys with a trace.
pub const STAGE_TRACE: &str = "stage.trace";
/// A check's name.
pub const CHECK: &str = "check";
/// What came of a check: [`CHECK_OK`] or [`CHECK_FAILED`].
pub const RESULT: &str = "result";
/// A check that held.
pub const CHECK_OK: &str = "ok";
/// A check that did not hold.
pub const CHECK_FAILED: &str = "failed";
/// Counter {check, result}: checks and assertions of sessions.
pub const CHECKS: &str = "checks";
/// Gauge, phase Any: clients of sessions at once.
pub const CLIENTS: &str = "clients";
/// Counter: lines of clients' own log that found no room and were dropped.
pub const LOG_LINES_DROPPED: &str = "log.lines_dropped";
/// Counter {journey, step, status}: requests of the step that ended, however they ended.
pub const STEP_REQUESTS: &str = "step.requests";
/// Status of a request that could not be written, or must not be sent.
pub const NOT_SENT: &str = "not sent";
/// Counter {journey, step, reason}: requests of the step that failed: no answer, or an unexpected
/// one.
pub const STEP_FAILED: &str = "step.failed";
/// Counter {journey, step, reason}: further attempts of a step, by what they were made after: a
/// status, or a failure's name.
pub const STEP_RETRIES: &str = "step.retries";
/// Counter {journey, stage}, phase Any: requests made to poll the stage.
pub const POLL_REQUESTS: &str = "poll.requests";
/// Trend {journey, stage}, phase Any, nanoseconds: how long polls waited that found the stage's
/// budget used up; the others are not in it.
pub const POLL_WAITED: &str = "poll.waited";

/// Counter {channel}, phase Any: events received, our own re-reads left out.
pub const EVENTS_SEEN: &str = "events.seen";
/// Counter {channel}, phase Any: events that reached a stage or were one of its members.
pub const EVENTS_MATCHED: &str = "events.matched";
/// Counter {channel, kind}, phase Any: events that repeated a (journey, stage, member).
pub const EVENTS_DUPLICATE: &str = "events.duplicate";
/// Counter {channel}, phase Any: events of a journey that had failed or been given up.
pub const EVENTS_AFTER_FAILURE: &str = "events.after_failure";
/// Counter {channel}, phase Any: events of no known journey that carry our run marker.
pub const EVENTS_ORPHAN: &str = "events.orphan";
/// Counter {channel}, phase Any: events that carry another run's marker.
pub const EVENTS_FOREIGN: &str = "events.foreign";
/// Counter {channel}, phase Any: events of no known journey and without a marker.
pub const EVENTS_UNATTRIBUTED: &str = "events.unattributed";
/// Counter {channel}, phase Any: events that could not be read or had no key.
pub const EVENTS_UNDECODABLE: &str = "events.undecodable";
/// Counter {channel}, phase Any: events read again after a reconnect and dropped by their position.
pub const EVENTS_REREAD: &str = "events.reread";
/// Gauge {channel, of, figure}, phase Any: what a broker says of what waits in it, once a second;
/// messages, or milliseconds of age.
pub const BACKLOG: &str = "backlog";
/// Gauge {resource, figure}, phase Any: what is read of the system's own resources, once a second;
/// the figures are [`CORES`] and those below it.
pub const RESOURCE: &str = "resource";
/// Counter {journey}: poisoned journeys that ended at a failure stage while observed.
pub const POISON_CONTAINED: &str = "poison.contained";
/// Counter {journey}: those of them that ended there after t0 + within.
pub const POISON_CONTAINED_LATE: &str = "poison.contained_late";
/// Trend {journey}: from t0 to the failure stage, of the same journeys.
pub const POISON_CONTAINMENT: &str = "poison.containment";
/// Counter {journey}: events of poisoned journeys that came after their journey had ended as
/// failed or lost.
pub const POISON_EVENTS_AFTER: &str = "poison.events_after";
/// Counter {queue}, phase Any: entries that a bounded queue or table refused.
pub const HEALTH_REFUSED: &str = "health.refused";

/// Trend {journey}: max(t2, every required stage) − t0 of completed and late journeys.
pub const JOURNEY_DURATION: &str = "journey.duration";
/// Trend {journey, stage}: from the first observation of the stage's predecessor to its own.
pub const STAGE_HOP: &str = "stage.hop";
/// Trend {journey, stage}: the magnitudes of negative hops, which rank below every other hop.
pub const STAGE_HOP_NEGATIVE: &str = "stage.hop_negative";
/// Trend {journey, stage}: from t0 to the stage's first observation.
pub const STAGE_SINCE_START: &str = "stage.since_start";
/// Trend {journey, stage}: from t0 to the first member of a fan-out stage, of journeys that reached
/// it.
pub const STAGE_FIRST_MEMBER: &str = "stage.first_member";
/// Trend {journey, stage}: durations of the journeys whose first alternative this stage was.
pub const BRANCH_DURATION: &str = "branch.duration";
/// Trend {journey, step}: completed − scheduled, of every request.
pub const STEP_RESPONSE: &str = "step.response";
/// Trend {journey, step}: completed − scheduled, of requests that were answered as expected.
pub const STEP_RESPONSE_OK: &str = "step.response_ok";
/// Trend {journey, step}: given up or refused − scheduled, of requests that failed.
pub const STEP_RESPONSE_FAILED: &str = "step.response_failed";
/// Trend {journey, step, status}: completed − due of requests that were answered, by status; of
/// sessions.
pub const STEP_RESPONSE_BY_STATUS: &str = "step.response_by_status";
/// Trend {journey, step}: completed − begun.
pub const STEP_SERVICE: &str = "step.service";
/// Trend {journey, step}: first byte sent − begun: waiting for a connection, DNS, connect, TLS.
pub const STEP_BLOCKED: &str = "step.blocked";
/// Trend {journey, step}: resolving the name, of requests that had to.
pub const STEP_DNS: &str = "step.dns";
/// Trend {journey, step}: connecting, of requests that had to.
pub const STEP_CONNECT: &str = "step.connect";
/// Trend {journey, step}: the TLS handshake, of requests that had to.
pub const STEP_TLS: &str = "step.tls";
/// Trend {journey, step}: from the first byte sent to the last.
pub const STEP_SEND: &str = "step.send";
/// Trend {journey, step}: from the last byte sent to the first received.
pub const STEP_WAIT: &str = "step.wait";
/// Trend {journey, step}: from the first byte received to the last.
pub const STEP_RECEIVE: &str = "step.receive";
/// Trend {journey, step, attempt}: ended − begun of each attempt of a step that may be tried again.
pub const STEP_ATTEMPT: &str = "step.attempt";
/// Trend {journey, step}, bytes: received per request, headers included.
pub const STEP_RECEIVED_BYTES: &str = "step.received_bytes";
/// Trend {journey, step}, bytes: sent per request, headers included.
pub const STEP_SENT_BYTES: &str = "step.sent_bytes";
/// Counter {journey, step}: answers whose body is in the next two.
pub const STEP_BODIES: &str = "step.bodies";
/// Counter {journey, step}: bytes of whole answers' bodies, decoded; of attacks on targets.
pub const STEP_BODY_BYTES_IN: &str = "step.body_bytes_in";
/// Counter {journey, step}: bytes of bodies of requests that were answered; of attacks on targets.
pub const STEP_BODY_BYTES_OUT: &str = "step.body_bytes_out";
/// Trend {}: begun − scheduled: the generator's own lateness.
pub const LAG: &str = "lag";

/// Trend {}: completed − scheduled, of requests that were answered, however, or given up for want
/// of an answer; in patient attacks, as are all of these.
pub const ANSWER_RESPONSE: &str = "answer.response";
/// Trend {}: completed − begun, of the same requests.
pub const ANSWER_SERVICE: &str = "answer.service";
/// Trend {}, answers: of each whole second of the load and each generator.
pub const ANSWERS_PER_SECOND: &str = "answers.per_second";
/// Counter {}: requests whose answer came after the timeout, or never.
pub const ANSWERS_LATE: &str = "answers.late";
/// Counter {}: requests whose connection failed before they were wholly sent.
pub const ANSWERS_UNSENT: &str = "answers.unsent";
/// Trend {}: begun − scheduled, or − when a worker was free if that was later: the generator's own
/// share of the lag.
pub const ANSWER_OWN_LAG: &str = "answer.own_lag";
/// Counter {}: requests that waited for a free worker after they were due.
pub const ANSWERS_WAITED: &str = "answers.waited";
/// Gauge {generator}, phase Any: when the last of these requests ended, seconds from the start.
pub const ANSWERS_UNTIL_S: &str = "answers.until_s";

/// Gauge {journey, stage}, phase Any: journeys that wait for this stage.
pub const STAGE_IN_FLIGHT: &str = "stage.in_flight";
/// Gauge {journey}, phase Any: journeys started and not ended.
pub const JOURNEYS_IN_FLIGHT: &str = "journeys.in_flight";
/// Gauge {journey}, phase Any: age of the oldest journey in flight, from its t0, milliseconds; 0
/// when none is in flight.
pub const JOURNEYS_OLDEST_AGE_MS: &str = "journeys.oldest_age_ms";
/// Gauge {process}, phase Any: memory resident in a process, bytes.
pub const HEALTH_MEMORY_BYTES: &str = "health.memory_bytes";
/// Gauge {process}, phase Any: descriptors that a process may still open.
pub const HEALTH_DESCRIPTORS_LEFT: &str = "health.descriptors_left";
/// Gauge {process}, phase Any: descriptors that a process may open in all.
pub const HEALTH_DESCRIPTORS: &str = "health.descriptors";
/// Gauge {process}, phase Any: processor time of all threads of a process over the interval, as
/// processors.
pub const HEALTH_PROCESS_CPU: &str = "health.process_cpu";
/// Gauge, phase Any, of the process that coordinates: ports left for one target, were every open
/// descriptor a connection to it.
pub const HEALTH_PORTS_LEFT: &str = "health.ports_left";
/// Gauge {thread}, phase Any: longest turn of a generator's event loop, milliseconds: for so long
/// it looked neither at arrivals nor at sockets.
pub const HEALTH_STALL_MS: &str = "health.stall_ms";
/// Gauge {thread}, phase Any: share of the interval the thread ran, 0 to 1.
pub const HEALTH_CPU: &str = "health.cpu";
/// Gauge {thread}, phase Any: for how long in a row a generator thread has been busier than the
/// plan's health limit, seconds.
pub const HEALTH_BUSY_S: &str = "health.busy_s";
/// Gauge {thread}, phase Any: share of the interval the thread was ready and did not run, 0 to 1.
pub const HEALTH_RUN_QUEUE: &str = "health.run_queue";
/// Gauge {channel}, phase Any: how far the tap is behind its channel, milliseconds.
pub const HEALTH_TAP_BEHIND_MS: &str = "health.tap_behind_ms";
/// Gauge {generator}, phase Any: open connections.
pub const HEALTH_CONNECTIONS: &str = "health.connections";
/// Counter {generator}, phase Any: connections begun, whether or not they came up.
pub const HEALTH_CONNECTIONS_OPENED: &str = "health.connections_opened";
/// Gauge {generator}, phase Any: how late arrivals may begin, so that several do at one wake-up.
pub const HEALTH_LAG_BUDGET_MS: &str = "health.lag_budget_ms";

/// What tells the name of a journey's poisoned ones from the journey's own, which has no space.
const POISONED: &str = " (poisoned)";

/// The name under which a journey's poisoned ones are counted.
pub fn poisoned(journey: &str) -> String {
    format!("{journey}{POISONED}")
}

/// The journey whose poisoned ones are counted under this name; `None` for any other journey's.
pub fn poison_of(name: &str) -> Option<&str> {
    name.strip_suffix(POISONED)
}
