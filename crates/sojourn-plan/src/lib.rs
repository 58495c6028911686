//! What a run will do.
//!
//! A [`Plan`] is immutable once built. It is read from a journey file by [`read`], whose errors
//! name file, line, column, the offending text and what to do. Values that change from journey to
//! journey are [`Template`]s: compiled once, rendered without allocation as a function of (seed,
//! k).
//!
//! Reading text is the only thing in here that touches the outside: no clock, no network. Files
//! that a plan names (CSV rows, replayed instants, bodies) are read through a [`Files`] the caller
//! gives.

mod attack;
mod batch;
mod channel;
mod clock;
mod declare;
mod fan_out;
mod journey;
mod limit;
mod load;
mod plan;
mod poison;
mod rate;
mod read;
pub mod reading;
mod render;
mod resource;
mod retry;
mod schema;
mod selector;
mod starter;
mod template;

pub use attack::{
    AttackLoad, BodyFiles, Pace, PaceError, Target, TargetDefaults, TargetError, TargetFormat,
    TargetReader, attack_plan, header_of, step_of,
};
pub use batch::{BATCH_MAX, Batch, BatchForm};
pub use channel::{
    AmqpChannel, AvroSchema, Channel, Connector, Decoder, KafkaChannel, MqttChannel, MqttVersion,
    NatsChannel, Outbox, PostgresChannel, PostgresSource, PostgresTable, ProtobufSchema,
    RedisChannel, RedisSource, SchemaRegistry, Secret, Server, SqsChannel, SqsCredentials,
    SqsSource, SseChannel, Tls, WebSocketChannel, WebhookAnswer, WebhookCase, WebhookChannel,
    WebhookFailures, WebhookSignature,
};
pub use clock::{CLOCKS_MAX, ClockRule, ulid_unix_ms};
pub use declare::read_declared;
pub use fan_out::{Expect, MEMBERS_MAX, Teller, members_of};
pub use journey::{
    Action, Extract, HttpAction, Journey, KeyRule, Poll, PublishAction, Stage, StageKind,
    StageSource, Step,
};
pub use limit::{Limit, LimitKind};
pub use load::{Load, Model, Think, Until, UserStage};
pub use plan::{HealthLimits, Plan, Refresh};
pub use poison::Poison;
pub use read::units::{bytes, duration_ns, fraction, rate_per_s, show_rate};
pub use read::{
    Files, Overrides, PlanError, PlanErrors, is_name, read, read_channels, schema, usual_linger_ns,
};
pub use resource::{Prometheus, Resource, ResourceSource};
pub use retry::{Retry, RetryOn};
pub use selector::{Check, JsonPath, PathStep, Selector, Test};
pub use starter::{StarterKind, starter};
pub use template::{DataSource, Escape, Hole, Part, RenderContext, Template, VariableId};
