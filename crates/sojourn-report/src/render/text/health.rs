//! The generator's health, which a reader must see before any figure.

use sojourn_analysis::words;

use super::{
    entry, heading,
    paint::{Paint, clean},
};
use crate::model::Health;

pub(super) fn health(out: &mut String, health: &Health, paint: &Paint) {
    heading(out, "GENERATOR", paint);
    let lag = health.lag_ns.as_ref().map_or_else(
        || "not measured".to_owned(),
        |lag_ns| {
            format!(
                "p50 {} · p99 {} · max {}",
                words::duration(lag_ns.p50 as f64),
                words::duration(lag_ns.p99 as f64),
                words::duration(lag_ns.max as f64)
            )
        },
    );
    if let Some(verdict) = &health.verdict {
        entry(out, "limit", &clean(&verdict.text));
    }
    let budget = health.lag_budget_ns.filter(|ns| *ns > 0.0).map_or_else(String::new, |ns| {
        format!(" · arrivals may begin {} late", words::duration(ns))
    });
    entry(out, "lag", &format!("{lag}{budget}"));
    let delivered = health.delivered.map_or_else(String::new, |delivered| {
        format!(" ({} delivered)", words::percent(delivered))
    });
    let arrivals = format!(
        "{} scheduled, {} started, {} missed{delivered}",
        words::count(health.scheduled),
        words::count(health.started),
        words::count(health.missed)
    );
    entry(out, "arrivals", &arrivals);
    threads(out, health);
    taps(out, health);
    let refused: Vec<String> = health
        .refused
        .iter()
        .map(|refusal| format!("{} by {}", words::count(refusal.count), clean(&refusal.queue)))
        .collect();
    let refused = match refused.as_slice() {
        [] => "nothing".to_owned(),
        refused => words::list(refused),
    };
    entry(out, "refused", &refused);
    let mut process = Vec::new();
    process.extend(health.memory_bytes_max.map(|max| format!("memory {}", words::bytes(max))));
    process.extend(health.connections_max.map(|max| format!("connections {}", words::number(max))));
    process.extend(
        health.descriptors_left_min.map(|min| format!("descriptors left {}", words::number(min))),
    );
    process.extend(health.ports_left_min.map(|min| format!("ports left {}", words::number(min))));
    if !process.is_empty() {
        entry(out, "process", &process.join(" · "));
    }
    processes(out, health);
}

fn processes(out: &mut String, health: &Health) {
    for process in &health.processes {
        let part = |known: Option<f64>, words: fn(f64) -> String| {
            known.map_or_else(|| "–".to_owned(), words)
        };
        let text = format!(
            "{}: memory {} · descriptors {} of {} · cpu mean {} · max {}",
            clean(&process.process),
            part(process.memory_bytes_max, words::bytes),
            part(process.descriptors_max, words::number),
            part(process.descriptors_limit, words::number),
            part(process.cpu_mean, words::percent),
            part(process.cpu_max, words::percent)
        );
        entry(out, "process", &text);
    }
}

fn threads(out: &mut String, health: &Health) {
    for thread in &health.threads {
        let part = |fraction: Option<f64>| fraction.map_or_else(|| "–".to_owned(), words::percent);
        let text = format!(
            "{}: mean {} · max {} · waited for a core {}",
            clean(&thread.thread),
            part(thread.cpu_mean),
            part(thread.cpu_max),
            thread.run_queue_max.map_or_else(|| "unknown".to_owned(), words::percent)
        );
        let stall = thread.stall_ms_max.map_or_else(String::new, |stall_ms| {
            format!(" · longest turn {}", words::duration(stall_ms * 1e6))
        });
        entry(out, "cpu", &format!("{text}{stall}"));
    }
}

fn taps(out: &mut String, health: &Health) {
    for tap in &health.taps {
        let text = format!(
            "{}: behind at most {}, {} at the end",
            clean(&tap.channel),
            words::duration(tap.behind_ms_max * 1e6),
            words::duration(tap.behind_ms_last * 1e6)
        );
        entry(out, "tap", &text);
    }
}
