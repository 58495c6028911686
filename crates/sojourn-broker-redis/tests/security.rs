//! Passwords, permissions and TLS.

use sojourn_broker::{BrokerError, Tap};
use sojourn_broker_redis::RedisTap;
use sojourn_plan::{RedisChannel, Secret};
use sojourn_services::{PASSWORD, Redis, RedisOptions, Service, USER};

use crate::support::*;

fn refused(channel: &RedisChannel) -> BrokerError {
    let error = RedisTap::new(channel).and_then(|mut tap| tap.open().map(drop)).unwrap_err();
    let text = format!("{error:?}");
    assert!(!text.contains(PASSWORD) && !text.contains("hunter2"), "{text}");
    assert!(error.hint.is_some(), "{text}");
    error
}

#[test]
fn passwords_are_asked_for_and_checked() {
    let redis = Redis::start_with(RedisOptions { password: true }).unwrap();
    let mut system = client(&redis);
    add(&mut system, "s", "x", "y");
    let channel = as_user(streams(&redis, &["s"]));
    let mut tap = open(&channel);
    add(&mut system, "s", "n", "1");
    let mut feed = Feed::default();
    poll_for(&mut tap, &mut feed, 1);
    let mut wrong = channel.clone();
    wrong.server.password = Some(Secret::new("hunter2"));
    let error = refused(&wrong);
    assert!(error.message.contains(&format!("refuses user `{USER}`")), "{error}");
    assert!(error.message.contains(&redis.port().to_string()), "{error}");
    let mut none = channel;
    none.server.password = None;
    let error = refused(&none);
    assert!(error.message.contains("asks for a password"), "{error}");
    assert!(!format!("{tap:?}").contains(PASSWORD));
}

#[test]
fn a_password_that_nobody_asked_for() {
    let redis = Redis::start().unwrap();
    let mut channel = streams(&redis, &["s"]);
    channel.server.password = Some(Secret::new("hunter2"));
    let error = refused(&channel);
    assert!(error.message.contains("it has no password"), "{error}");
}

#[test]
fn a_tap_needs_no_more_than_is_documented() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    add(&mut system, "s", "x", "y");
    let set = |system: &mut _, rights: &str| {
        run(system, &format!("ACL SETUSER {USER} reset on >{PASSWORD} {rights}"));
    };
    let channel = as_user(streams(&redis, &["s"]));
    set(&mut system, "~s +ping +xread +xinfo|stream");
    let mut tap = open(&channel);
    add(&mut system, "s", "n", "1");
    let mut feed = Feed::default();
    poll_for(&mut tap, &mut feed, 1);
    set(&mut system, "~s +ping +xread");
    let error = refused(&channel);
    assert!(error.message.contains(&format!("user `{USER}` may not do this")), "{error}");
    set(&mut system, "&c +ping +subscribe +psubscribe");
    drop(open(&as_user(channels(&redis, &["c"]))));
    refused(&as_user(channels(&redis, &["d"])));
}

/// A channel by the port for TLS.
fn secure(redis: &Redis, host: &str) -> RedisChannel {
    let mut channel = as_user(streams(redis, &["s"]));
    channel.server.host = host.to_owned();
    let url = redis.url_tls();
    channel.server.port = url.rsplit(':').next().unwrap().parse().unwrap();
    channel.server.tls = true;
    channel.server.trust.ca = redis.ca_file();
    channel
}

#[test]
fn tls_trusts_whom_it_is_told_to_and_nobody_else() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    add(&mut system, "s", "data", "x");
    for host in ["localhost", "127.0.0.1"] {
        let mut tap = open(&with_field(secure(&redis, host), "data"));
        let large = "y".repeat(1_000_000);
        add(&mut system, "s", "data", &large);
        add(&mut system, "s", "data", "z");
        let mut feed = Feed::default();
        poll_for(&mut tap, &mut feed, 2);
        assert!(feed.texts() == [large.as_str(), "z"]);
    }
    let mut unknown = secure(&redis, "localhost");
    unknown.server.trust.ca = None;
    let error = refused(&unknown);
    assert!(error.message.contains("signed by an authority that is not trusted"), "{error}");
    assert!(error.hint.unwrap().contains("ca: FILE"));
    let mut misnamed = secure(&redis, "127.0.0.1");
    misnamed.server.trust.name = Some("redis.example".to_owned());
    let error = refused(&misnamed);
    assert!(error.message.contains("its certificate is not for `redis.example`"), "{error}");
    misnamed.server.trust.insecure = true;
    drop(open(&misnamed));
    let mut renamed = secure(&redis, "127.0.0.1");
    renamed.server.trust.name = Some("localhost".to_owned());
    drop(open(&renamed));
    let mut no_file = secure(&redis, "localhost");
    no_file.server.trust.ca = Some("/nowhere/ca.pem".into());
    let error = RedisTap::new(&no_file).err().unwrap();
    assert!(error.message.contains("/nowhere/ca.pem"), "{error}");
}

#[test]
fn tls_where_there_is_none_and_the_other_way_round() {
    let redis = Redis::start().unwrap();
    let mut channel = secure(&redis, "localhost");
    let tls_port = channel.server.port;
    channel.server.port = redis.port();
    refused(&channel);
    let mut plain = streams(&redis, &["s"]);
    plain.server.port = tls_port;
    refused(&plain);
    // And nobody at all.
    let mut nobody = streams(&redis, &["s"]);
    nobody.server.port = sojourn_services::closed_port().unwrap();
    let error = refused(&nobody);
    let address = nobody.server.address();
    let expect = format!("cannot reach redis at {address}: connection refused");
    assert_eq!(error.message, expect);
}
