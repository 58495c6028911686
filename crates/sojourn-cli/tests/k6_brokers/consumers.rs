//! Scripts that consume: users of a script are members of a group of every broker that has groups.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sojourn_testkit::Output;

use crate::k6_journeys::run;

/// `shared`: two users take and commit what one of them publishes. `left`: one takes what it has
/// published, and commits nothing. `again`: one takes and commits what is there. `sent`: one
/// publishes. `spread`: two take and commit what is there, and have no tap.
const SCRIPT: &str = r#"
import { check, sleep } from 'k6';
import { consumer, publish, tap } from 'sojourn';

const asked = JSON.parse(__ENV.ASKED);
const work = consumer('work', asked.consumer);
const part = __ENV.PART;
const way = part === 'spread' ? null : tap('way', asked.tap);

const vus = part === 'shared' || part === 'spread' ? 2 : 1;
export const options = {
  scenarios: { workers: { executor: 'per-vu-iterations', vus, iterations: 1 } },
  thresholds: { checks: ['rate==1'] },
};

function take(wait) {
  const messages = work.take(4, wait);
  for (const it of messages) console.log(`taken ${__VU} ${it.json().id}`);
  check(messages, {
    'what came is whole': (all) =>
      all.every((it) => it.topic && it.at > 1e12 && it.headers && it.body.includes(it.json().id)),
  });
  return messages.length > 0;
}

function takeAll(wait, done) {
  for (let left = wait; take(left); left = '300ms') {
    done();
    // It has something to do, so that there is something left for the other.
    sleep(0.05);
  }
}

function send(prefix, count) {
  for (let number = 0; number < count; number++) {
    const topic = asked.topics[number % asked.topics.length];
    publish(way, { topic, key: `${prefix}${number}`, body: { id: `${prefix}${number}` } });
  }
}

export default function () {
  if (part === 'again' || part === 'spread') return takeAll('5s', () => work.commit());
  if (part === 'sent') return send('c', 20);
  // Each has its share before anything comes.
  const hasShare = () => (part === 'shared' ? work.assigned() === 1 : work.assigned() > 0);
  for (let tries = 0; !hasShare() && tries < 300; tries++) {
    if (take('50ms')) work.commit();
  }
  if (part === 'left') {
    send('b', 10);
    return takeAll('3s', () => {});
  }
  if (__VU === 1) send('a', 20);
  takeAll('3s', () => work.commit());
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

/// Every message is taken by one of two users, in a thread or each in a process of its own; a later
/// run gets those that they did not commit.
pub(super) fn are_shared(asked: &Asked) {
    let Asked { consumer, tap, topics, has_early, keeps } = asked;
    let words = json!({ "consumer": consumer, "tap": tap, "topics": topics });
    let words = format!("ASKED={words}");
    let play = |part: &str, users_in: [&str; 2]| {
        let part = format!("PART={part}");
        let arguments = [&["-e", &words, "-e", &part][..], &users_in].concat();
        let (output, _folder) = run(SCRIPT, &arguments);
        assert_eq!(output.code, Some(0), "{consumer}: {output}");
        (taken(&output), output)
    };
    // One thread for all users: one that waits keeps nobody else waiting.
    let in_a_thread = ["--threads", "1"];
    let (first, output) = play("shared", in_a_thread);
    let early = has_early.then(|| "early".to_owned());
    assert_each_once(&first, (0..20).map(|it| format!("a{it}")).chain(early), &output);
    for user in [1, 2] {
        assert!(first.values().any(|users| users.contains(&user)), "{consumer}: {output}");
    }
    if *keeps {
        for part in ["left", "again"] {
            let (taken, output) = play(part, in_a_thread);
            assert_each_once(&taken, (0..10).map(|it| format!("b{it}")), &output);
        }
        play("sent", in_a_thread);
        let (taken, output) = play("spread", ["--generators", "2"]);
        assert_each_once(&taken, (0..20).map(|it| format!("c{it}")), &output);
    }
}

/// These were taken, each by one user, and nothing else.
fn assert_each_once(
    taken: &BTreeMap<String, Vec<u64>>,
    expected: impl Iterator<Item = String>,
    output: &Output,
) {
    let mut expected: Vec<String> = expected.collect();
    expected.sort();
    let ids: Vec<String> = taken.keys().cloned().collect();
    assert_eq!(ids, expected, "{output}");
    assert!(taken.values().all(|users| users.len() == 1), "{output}");
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

let when = 'init';
const thrown = (call) => {
  try {
    call();
    console.log(`${when}: nothing`);
  } catch (error) {
    console.log(`${when}: ${error.message}`);
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
  when = 'told';
  thrown(() => consumer('e', { kafka, group }));
  thrown(() => c.commit());
  thrown(() => c.take(0));
  thrown(() => c.take(10001));
  thrown(() => c.take(1, 'soon'));
  thrown(() => away.take());
  c.leave();
  console.log(`told: ${c.assigned()} ${c.name} ${c.take(1, 50).length}`);
}
"#;

#[test]
fn what_is_wrong_is_said_where_it_is_written() {
    let (output, _folder) = run(WRONG, &["--log-format", "raw"]);
    assert_eq!(output.code, Some(0), "{output}");
    let lines = |start: &str| -> Vec<&str> {
        output.stderr.lines().filter_map(|line| line.strip_prefix(start)).collect()
    };
    // Users run the top level again, when nothing new can be declared.
    let (init, told) = (lines("init: "), lines("told: "));
    let at_init = [
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
    ];
    let later = [
        "consumer() must be called in the init context",
        "commit() of the consumer \"c\": this user has taken nothing",
        "a number from 1 to 10000",
        "a number from 1 to 10000",
        "write '500ms'",
        "take() of the consumer \"away\": mqtt at 127.0.0.1:1: cannot connect",
        "0 c 0",
    ];
    assert!(init.len() >= at_init.len(), "{output}");
    assert_eq!(told.len(), later.len(), "{output}");
    for (told, expected) in init.iter().zip(at_init).chain(told.iter().zip(later)) {
        assert!(told.contains(expected), "{told}\n{expected}");
    }
}
