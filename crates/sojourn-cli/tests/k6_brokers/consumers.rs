//! Scripts that consume: users of a script are members of a group of every broker that has groups.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sojourn_testkit::Output;

use crate::k6_journeys::run;

/// Two users share what one of them publishes: twenty messages that they commit, ten that they
/// don't. `AGAIN`: one user takes and commits what is there.
const SCRIPT: &str = r#"
import { check } from 'k6';
import { consumer, publish, tap } from 'sojourn';

const asked = JSON.parse(__ENV.ASKED);
const work = consumer('work', asked.consumer);
const way = tap('way', asked.tap);

const vus = __ENV.AGAIN ? 1 : 2;
export const options = {
  scenarios: { workers: { executor: 'per-vu-iterations', vus, iterations: 1 } },
  thresholds: { checks: ['rate==1'] },
};

function take(wait) {
  const messages = work.take(4, wait);
  for (const it of messages) console.log(`taken ${__VU} ${it.json().id}`);
  check(messages, {
    'what came is whole': (all) =>
      all.every((it) => it.topic !== '' && it.at > 1e12 && it.body.includes(it.json().id) && it.headers),
  });
  return messages.length > 0;
}

function takeAll(wait, done) {
  for (let left = wait; take(left); left = '300ms') done();
}

function send(prefix, count) {
  for (let number = 0; number < count; number++) {
    const topic = asked.topics[number % asked.topics.length];
    publish(way, { topic, key: `${prefix}${number}`, body: { id: `${prefix}${number}` } });
  }
}

export default function () {
  if (__ENV.AGAIN) return takeAll('5s', () => work.commit());
  // Each has its share before anything comes.
  for (let tries = 0; work.assigned() !== 1 && tries < 300; tries++) {
    if (take('50ms')) work.commit();
  }
  if (__VU === 1) send('a', 20);
  takeAll('3s', () => work.commit());
  if (__VU === 1) send('b', 10);
  takeAll('1s', () => {});
}
"#;

/// What is asked of a broker.
pub(super) struct Asked {
    /// As `consumer()` takes it.
    pub(super) consumer: Value,
    /// Of messages to it.
    pub(super) tap: Value,
    pub(super) topics: &'static [&'static str],
    /// Was there before the group: `early`, where groups begin at the oldest message.
    pub(super) has_early: bool,
    /// Whether a group without members is kept its messages.
    pub(super) keeps: bool,
}

/// Every message is taken by one of two users; a later run gets those that they did not commit.
pub(super) fn are_shared(asked: &Asked) {
    let Asked { consumer, tap, topics, has_early, keeps } = asked;
    let words = json!({ "consumer": consumer, "tap": tap, "topics": topics });
    let words = format!("ASKED={words}");
    // One thread for both: a user that waits keeps nobody else waiting.
    let (output, _folder) = run(SCRIPT, &["-e", &words, "--threads", "1"]);
    assert_eq!(output.code, Some(0), "{consumer}: {output}");
    let taken = taken(&output);
    let users = |prefix: &str| -> Vec<u64> {
        let meant = taken.iter().filter(|(id, _)| id.starts_with(prefix));
        meant.flat_map(|(_, users)| users).copied().collect()
    };
    for number in 0..20 {
        let users = taken.get(&format!("a{number}")).map_or(0, Vec::len);
        assert_eq!(users, 1, "{consumer}: a{number}\n{output}");
    }
    assert!(users("a").contains(&1) && users("a").contains(&2), "{consumer}: {output}");
    let ids = |taken: &BTreeMap<String, Vec<u64>>, prefix: &str| {
        taken.keys().filter(|id| id.starts_with(prefix)).count()
    };
    assert_eq!(ids(&taken, "b"), 10, "{consumer}: {output}");
    assert_eq!(ids(&taken, "early"), usize::from(*has_early), "{consumer}: {output}");
    assert!(taken.len() <= 31, "{consumer}: {output}");
    if !keeps {
        return;
    }
    let (output, _folder) = run(SCRIPT, &["-e", &words, "-e", "AGAIN=1"]);
    assert_eq!(output.code, Some(0), "{consumer}: {output}");
    let again = self::taken(&output);
    assert_eq!((ids(&again, "b"), again.len()), (10, 10), "{consumer}: {output}");
    assert!(again.values().all(|users| users.len() == 1), "{consumer}: {output}");
}

/// Users that have taken a message, by its id, as the script has told.
fn taken(output: &Output) -> BTreeMap<String, Vec<u64>> {
    let mut taken: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for told in output.stderr.split("taken ").skip(1) {
        let mut words = told.split([' ', '"']);
        let (user, id) = (words.next().unwrap(), words.next().unwrap());
        taken.entry(id.to_owned()).or_default().push(user.parse().unwrap());
    }
    taken
}

const WRONG: &str = r#"
import { consumer } from 'sojourn';

const told = [];
const thrown = (call) => {
  try {
    call();
    told.push('nothing');
  } catch (error) {
    told.push(error.message);
  }
};
const kafka = { brokers: '127.0.0.1:1', topics: ['t'] };
const nats = { url: 'nats://127.0.0.1:1', subjects: ['t'] };
const mqtt = { url: 'mqtt://127.0.0.1:1', topics: ['t'] };
const group = 'g';
const c = consumer('c', { kafka, group });
consumer('c', { kafka, group });
thrown(() => consumer('c', { kafka, group: 'h' }));
thrown(() => consumer('', { kafka, group }));
thrown(() => consumer('d', 'kafka'));
thrown(() => consumer('d', { kafka }));
thrown(() => consumer('d', { kafka: { ...kafka, broker: 'x' }, group }));
thrown(() => consumer('d', { kafka, group, start: 'first' }));
thrown(() => consumer('d', { kafka, group, decoder: 'json' }));
thrown(() => consumer('d', { nats, group }));
thrown(() => consumer('d', { nats: { ...nats, stream: 'S' }, group: 'a.b' }));
thrown(() => consumer('d', { mqtt: { ...mqtt, version: '3.1.1' }, group }));
thrown(() => consumer('d', { mqtt, group, start: 'earliest' }));
thrown(() => consumer('d', { redis: { url: 'redis://127.0.0.1:1', channels: ['c'] }, group }));
thrown(() => consumer('d', { postgres: { url: 'postgres://127.0.0.1:1/d', notify: 'n' }, group }));
thrown(() => consumer('d', { webhook: { listen: '127.0.0.1:0' }, group }));
thrown(() => c.take());
thrown(() => c.assigned());
const away = consumer('away', { mqtt, group });

export default function () {
  thrown(() => consumer('e', { kafka, group }));
  thrown(() => c.commit());
  thrown(() => c.take(0));
  thrown(() => c.take(10001));
  thrown(() => c.take(1, 'soon'));
  thrown(() => away.take());
  c.leave();
  told.push(`${c.assigned()} ${c.name} ${c.take(1, 50).length}`);
  told.forEach((it) => console.log(`told: ${it}`));
}
"#;

#[test]
fn what_is_wrong_is_said_where_it_is_written() {
    let (output, _folder) = run(WRONG, &["--log-format", "raw"]);
    assert_eq!(output.code, Some(0), "{output}");
    let told: Vec<&str> =
        output.stderr.lines().filter_map(|it| it.strip_prefix("told: ")).collect();
    let expected = [
        "the consumer \"c\" is declared twice, and not the same",
        "its name is to be a text",
        "consumer \"d\": it is to be an object",
        "consumer \"d\": it does not say which group",
        "did you mean `brokers`",
        "none of 'earliest' and 'latest'",
        "there is no \"decoder\", only kafka, group and start",
        "nats keeps nothing here",
        "`a.b` cannot name a group of nats",
        "no shared subscriptions",
        "mqtt keeps nothing for a group that has no member",
        "only streams have consumer groups",
        "Postgres has no consumer groups",
        "webhook cannot consume",
        "take() can't be called at the top level",
        "assigned() can't be called at the top level",
        "consumer() must be called in the init context",
        "commit() of the consumer \"c\": this user has taken nothing",
        "a number from 1 to 10000",
        "a number from 1 to 10000",
        "write '500ms'",
        "take() of the consumer \"away\": ",
        "0 c 0",
    ];
    assert_eq!(told.len(), expected.len(), "{output}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.contains(expected), "{told}\n{expected}");
    }
    assert!(told[21].contains("127.0.0.1:1"), "{}", told[21]);
}
