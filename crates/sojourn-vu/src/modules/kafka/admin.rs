//! `Connection` and `AdminClient`: topics, and offsets of groups.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use serde::Deserialize;
use sojourn_broker_kafka::client::{Admin, GroupOffset, Partition, Topic, TopicPlan};
use sojourn_script::js::{self, Array, Ctx, Object, Value};

use super::super::coerced::Text;
use super::super::function;
use super::access::Cluster;
use super::config::{self, ConnectionConfig};
use super::go_error::throw;
use super::waiting;
use crate::user::User;

/// A topic as a script describes it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TopicConfig {
    topic: String,
    num_partitions: Option<i32>,
    replication_factor: Option<i32>,
    replica_assignments: Option<Vec<Assignment>>,
    config_entries: Option<Vec<Entry>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Assignment {
    partition: usize,
    replicas: Vec<i32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Entry {
    config_name: String,
    config_value: String,
}

/// A group that is to begin at the end of topics.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct GroupConfig {
    group_id: String,
    topics: Vec<String>,
}

impl TopicConfig {
    fn plan(self) -> TopicPlan {
        let given = |number: Option<i32>| number.filter(|number| *number > 0).unwrap_or(1);
        let mut assigned = self.replica_assignments.unwrap_or_default();
        assigned.sort_by_key(|assignment| assignment.partition);
        let assignments: Vec<_> = assigned.into_iter().map(|it| it.replicas).collect();
        let partitions = match assignments.len() {
            0 => given(self.num_partitions),
            count => i32::try_from(count).unwrap_or(i32::MAX),
        };
        let entries = self.config_entries.unwrap_or_default().into_iter();
        TopicPlan {
            name: self.topic,
            partitions,
            replication: given(self.replication_factor),
            assignments,
            config: entries.map(|entry| (entry.config_name, entry.config_value)).collect(),
        }
    }
}

struct Connection {
    user: Rc<User>,
    cluster: Cluster,
    is_closed: Cell<bool>,
}

pub(super) fn make<'js>(
    ctx: &Ctx<'js>,
    user: &Rc<User>,
    class: &'static str,
    given: Value<'js>,
) -> js::Result<Object<'js>> {
    let config: ConnectionConfig = config::read(ctx, class, &given)?;
    let cluster = config.cluster().map_err(|problem| throw(ctx, &format!("{class}: {problem}")))?;
    let connection =
        Rc::new(Connection { user: Rc::clone(user), cluster, is_closed: Cell::new(false) });
    let object = Object::new(ctx.clone())?;
    let this = Rc::clone(&connection);
    function(&object, "createTopic", move |ctx: Ctx<'js>, given: Value<'js>| {
        let plan = config::read::<TopicConfig>(&ctx, "createTopic", &given)?.plan();
        this.ask(&ctx, "create topic", move |admin| admin.create(&plan))
    })?;
    let this = Rc::clone(&connection);
    function(&object, "deleteTopic", move |ctx: Ctx<'js>, topic: Text| {
        this.ask(&ctx, "delete topic", move |admin| admin.delete(&topic.0))
    })?;
    let this = Rc::clone(&connection);
    let only_names = class == "Connection";
    function(&object, "listTopics", move |ctx: Ctx<'js>| {
        let topics = this.ask(&ctx, "list topics", Admin::topics)?;
        let list = Array::new(ctx.clone())?;
        for (at, topic) in topics.iter().enumerate() {
            match only_names {
                true => list.set(at, topic.name.as_str())?,
                false => list.set(at, summed_up(&ctx, topic)?)?,
            }
        }
        Ok::<_, js::Error>(list)
    })?;
    let this = Rc::clone(&connection);
    function(&object, "getMetadata", move |ctx: Ctx<'js>, topic: Text| {
        let topic = this.ask(&ctx, "get metadata", move |admin| admin.topic(&topic.0))?;
        described(&ctx, &topic)
    })?;
    if !only_names {
        let this = Rc::clone(&connection);
        function(
            &object,
            "initializeConsumerGroupOffsets",
            move |ctx: Ctx<'js>, given: Value<'js>| this.set_group_to_end(&ctx, &given),
        )?;
    }
    function(&object, "close", move || connection.is_closed.set(true))?;
    Ok(object)
}

impl Connection {
    /// Asks the cluster for something.
    fn ask<T: Send + 'static>(
        &self,
        ctx: &Ctx<'_>,
        what: &str,
        ask: impl FnOnce(&Admin) -> Result<T, String> + Send + 'static,
    ) -> js::Result<T> {
        let failed =
            |problem: String| throw(ctx, &format!("Failed to {what}., OriginalError: {problem}"));
        if self.is_closed.get() {
            return Err(failed("the connection is closed".to_owned()));
        }
        let admin: Arc<Admin> =
            self.user.host.settings.kafka.admin(&self.cluster).map_err(failed)?;
        waiting::blocking(ctx, &self.user, move || ask(&admin))?.map_err(failed)
    }

    fn set_group_to_end<'js>(
        &self,
        ctx: &Ctx<'js>,
        given: &Value<'js>,
    ) -> js::Result<Vec<Object<'js>>> {
        const METHOD: &str = "initializeConsumerGroupOffsets";
        let GroupConfig { group_id, topics } = config::read(ctx, METHOD, given)?;
        if group_id.is_empty() || topics.is_empty() {
            let told =
                format!("{METHOD} needs groupId, a text, and topics, a list of at least one");
            return Err(throw(ctx, &told));
        }
        let set = self.ask(ctx, "initialize consumer group offsets", move |admin| {
            admin.set_group_to_end(&group_id, &topics)
        })?;
        let shown = |at: &GroupOffset| {
            let object = Object::new(ctx.clone())?;
            object.set("topic", at.topic.as_str())?;
            object.set("partition", at.partition)?;
            // Offsets are far below what a number holds exactly.
            object.set("offset", at.offset as f64)?;
            Ok(object)
        };
        set.iter().map(shown).collect()
    }
}

fn summed_up<'js>(ctx: &Ctx<'js>, topic: &Topic) -> js::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("topic", topic.name.as_str())?;
    object.set("partitions", topic.partitions.len())?;
    object.set("error", error(ctx, topic.error.as_deref())?)?;
    Ok(object)
}

fn described<'js>(ctx: &Ctx<'js>, topic: &Topic) -> js::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("topic", topic.name.as_str())?;
    let partition = |partition: &Partition| {
        let object = Object::new(ctx.clone())?;
        object.set("id", partition.id)?;
        object.set("leader", partition.leader)?;
        object.set("replicas", partition.replicas.clone())?;
        object.set("isrs", partition.in_sync.clone())?;
        object.set("error", error(ctx, partition.error.as_deref())?)?;
        Ok::<_, js::Error>(object)
    };
    let partitions = topic.partitions.iter().map(partition).collect::<js::Result<Vec<_>>>()?;
    object.set("partitions", partitions)?;
    object.set("error", error(ctx, topic.error.as_deref())?)?;
    Ok(object)
}

/// Null where nothing is wrong.
fn error<'js>(ctx: &Ctx<'js>, error: Option<&str>) -> js::Result<Value<'js>> {
    match error {
        Some(told) => js::IntoJs::into_js(told, ctx),
        None => Ok(Value::new_null(ctx.clone())),
    }
}
