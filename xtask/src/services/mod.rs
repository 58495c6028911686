//! `cargo xtask services`: the real servers that the connectors' tests need, to work with by hand.
//!
//! Tests start their own by the same launchers (`sojourn-services`); only `install` is needed for
//! them.

mod install;
mod node;
mod python;
mod state;

use std::path::Path;
use std::thread;

use sojourn_services::{
    Dnsmasq, ElasticMq, Fauxqs, InfluxDb, Kafka, Kind, Mosquitto, Moto, Nats, NatsOptions,
    OpenTelemetry, Postgres, Prometheus, RabbitMq, Redis, RedisOptions, Service, Statsd,
};

pub(crate) use install::{ensure, without_starting};

use crate::Failure;
use crate::phase::now;
use state::{Entry, State};

type Start = fn() -> std::io::Result<Box<dyn Service + Send>>;
type Started = (Box<dyn Service + Send>, Entry);

/// The slow ones first: they start side by side.
const STARTS: &[(&str, Start)] = &[
    ("kafka", || Ok(Box::new(Kafka::start()?))),
    ("rabbitmq", || Ok(Box::new(RabbitMq::start()?))),
    ("elasticmq", || Ok(Box::new(ElasticMq::start()?))),
    ("moto", || Ok(Box::new(Moto::start()?))),
    ("fauxqs", || Ok(Box::new(Fauxqs::start()?))),
    ("postgres", || Ok(Box::new(Postgres::start()?))),
    ("nats", || Ok(Box::new(Nats::start()?))),
    ("nats-password", || {
        Ok(Box::new(Nats::start_with(NatsOptions { password: true, tls: false })?))
    }),
    ("nats-tls", || Ok(Box::new(Nats::start_with(NatsOptions { password: false, tls: true })?))),
    ("redis", || Ok(Box::new(Redis::start()?))),
    ("redis-password", || Ok(Box::new(Redis::start_with(RedisOptions { password: true })?))),
    ("mosquitto", || Ok(Box::new(Mosquitto::start()?))),
    ("prometheus", || Ok(Box::new(Prometheus::start("")?))),
    ("influxdb", || Ok(Box::new(InfluxDb::start()?))),
    ("dnsmasq", || Ok(Box::new(Dnsmasq::start()?))),
    ("opentelemetry", || Ok(Box::new(OpenTelemetry::start()?))),
    ("statsd", || Ok(Box::new(Statsd::start()?))),
];

/// `install`, `up`, `down` or `status`.
pub(crate) fn run(words: &[&str]) -> Result<(), Failure> {
    match words {
        ["install"] => Ok(ensure()?),
        ["up"] => Ok(up(&State::path(), STARTS)?),
        ["down"] => Ok(down(&State::path())?),
        ["status"] => Ok(status()?),
        _ => Err(Failure::usage("`services` takes one of: install up down status")),
    }
}

/// Starts these servers, unless they are up already.
fn up(path: &Path, starts: &'static [(&'static str, Start)]) -> Result<(), String> {
    if let Some(state) = State::load(path)? {
        let silent = silent(&state);
        if !silent.is_empty() {
            return Err(format!(
                "these are up but do not answer: {}; `cargo xtask services down`, then `up` again",
                silent.join(", ")
            ));
        }
        eprintln!("xtask: already up, and all answer");
        print(&state);
        return Ok(());
    }
    ensure()?;
    // One that failed ends all the others, as they are dropped.
    let (services, entries): (Vec<_>, Vec<_>) = start_all(starts)?.into_iter().unzip();
    let mut state = State { entries };
    for (service, entry) in services.into_iter().zip(&mut state.entries) {
        entry.processes = service.detach().processes;
    }
    state.save(path)?;
    print(&state);
    Ok(())
}

fn start_all(starts: &'static [(&'static str, Start)]) -> Result<Vec<Started>, String> {
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for (name, start) in starts {
            threads.push(scope.spawn(move || start_one(name, *start)));
        }
        let panicked = |_| Err("a thread that started a server panicked".to_owned());
        let join = |thread: thread::ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(panicked);
        threads.into_iter().map(join).collect()
    })
}

fn start_one(name: &str, start: Start) -> Result<Started, String> {
    let begin = now();
    let service = start().map_err(|error| format!("{name}: {error}"))?;
    eprintln!("  {name} answers after {:.1} s", begin.elapsed().as_secs_f64());
    let entry = Entry {
        name: name.to_owned(),
        kind: service.kind(),
        version: install::version(service.kind()),
        port: service.port(),
        accesses: service
            .accesses()
            .into_iter()
            .map(|access| (access.name.to_owned(), access.url))
            .collect(),
        ca: service.ca_file(),
        log: service.instance().log().to_owned(),
        processes: Vec::new(),
    };
    Ok((service, entry))
}

/// Those that do not answer.
fn silent(state: &State) -> Vec<&str> {
    let silent = state.entries.iter().filter(|entry| entry.kind.probe(entry.port).is_err());
    silent.map(|entry| entry.name.as_str()).collect()
}

fn down(path: &Path) -> Result<(), String> {
    let Some(state) = State::load(path)? else {
        eprintln!("xtask: nothing is up");
        return Ok(());
    };
    state.end()?;
    State::remove(path)?;
    eprintln!("xtask: {} servers ended, their folders removed", state.entries.len());
    Ok(())
}

fn status() -> Result<(), String> {
    let Some(state) = State::load(&State::path())? else {
        println!("nothing is up; `cargo xtask services up` starts all servers");
        return Ok(());
    };
    print(&state);
    let silent = silent(&state);
    if silent.is_empty() {
        return Ok(());
    }
    Err(format!("do not answer: {}", silent.join(", ")))
}

/// A line for each way to each server.
fn print(state: &State) {
    println!("{:<16}{:<12}{:<18}{:<80}log", "server", "version", "access", "address");
    for entry in &state.entries {
        for (access, url) in &entry.accesses {
            println!(
                "{:<16}{:<12}{access:<18}{url:<80}{}",
                entry.name,
                entry.version,
                entry.log.display()
            );
        }
    }
    println!("\nauthorities of the TLS certificates and processes: {}", State::path().display());
}

/// The kind with this name.
fn kind(name: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The two that start at once.
    const QUICK: &[(&str, Start)] =
        &[("nats", || Ok(Box::new(Nats::start()?))), ("redis", || Ok(Box::new(Redis::start()?)))];

    #[test]
    fn what_up_starts_outlives_it_and_down_leaves_nothing() {
        let name = format!("sojourn-services-{}.json", std::process::id());
        let path = std::env::temp_dir().join(name);
        assert_eq!(down(&path), Ok(()), "nothing is up");
        up(&path, QUICK).unwrap();
        let state = State::load(&path).unwrap().unwrap();
        let names: Vec<_> = state.entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!((names, silent(&state)), (vec!["nats", "redis"], vec![]));
        // A second `up` finds them and starts nothing.
        up(&path, &[]).unwrap();
        assert_eq!(State::load(&path).unwrap().as_ref(), Some(&state));
        down(&path).unwrap();
        assert_eq!(silent(&state), ["nats", "redis"]);
        let processes = state.entries.iter().flat_map(|entry| &entry.processes);
        for (process, folder) in processes {
            assert!(!process.is_alive() && !folder.exists(), "{}", folder.display());
        }
        assert_eq!(State::load(&path), Ok(None));
    }
}
