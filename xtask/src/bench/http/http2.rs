//! HTTP/2: our client and our attack with all its accounts beside h2load, against the same nginx.

use std::path::Path;

use super::closed::{named, of_other, table};
use super::outputs::{attacks, h2loads, ours};
use super::tool::{Tool, run_rounds};
use super::{SECONDS, attack, build, needs, nginx, pinned, scratch};
use crate::bench::built;
use crate::bench::limits::Limits;
use crate::bench::table::Table;

const CONNECTIONS: &str = "10";
const STREAMS: &str = "100";
/// As many requests at a time as there are streams.
const WORKERS: &str = "1000";
const WAYS: [&str; 2] = ["epoll", "ring"];

/// Runs the comparison.
pub(in crate::bench) fn compare() -> Result<Vec<Table>, String> {
    let (h2load, server) = (needs("h2load")?, nginx()?);
    let (client, sojourn) = (build()?, built::sojourn()?);
    let mut tools = Vec::new();
    for way in WAYS {
        let program = client.clone();
        tools.push(Tool::new(
            &format!("sojourn-http, {way}"),
            move |url| pinned(&program, &[url, CONNECTIONS, SECONDS, way, STREAMS]),
            ours,
        ));
    }
    tools.extend(WAYS.map(|way| attacking(&sojourn, way)));
    let command = move |url: &str| {
        let (connections, streams) = (format!("-c{CONNECTIONS}"), format!("-m{STREAMS}"));
        pinned(&h2load, &["-t1", &connections, &streams, "-D", SECONDS, url])
    };
    tools.push(Tool::new("h2load", command, h2loads));
    let url = server.http2_url.clone().ok_or("nginx speaks no HTTP/2")?;
    run_rounds(&mut tools, &server, &url)?;
    let figures = table("HTTP/2, 10 connections × 100 streams, closed loop", &tools, "h2load");
    Ok(vec![figures, limits(&tools)])
}

fn limits(tools: &[Tool]) -> Table {
    let mut limits = Limits::of("sojourn attack, HTTP/2");
    for way in WAYS {
        let tool = named(tools, &format!("sojourn attack, {way}"));
        let ratio = tool.zip(named(tools, "h2load")).map(|(own, other)| of_other(own, other));
        limits.at_most(&format!("CPU per request on {way} ≤ 0.9 × h2load's"), ratio, " ×", 0.9);
    }
    limits.table()
}

fn attacking(program: &Path, way: &'static str) -> Tool {
    let (program, output) = (program.to_path_buf(), scratch("http2.sojourn"));
    let (reader, written) = (program.clone(), output.clone());
    let command = move |url: &str| {
        let duration = format!("{SECONDS}s");
        let load = ["-rate=0", "-max-workers", WORKERS, "-duration", &duration, "-io", way];
        let connections = ["-h2c", "-max-connections", CONNECTIONS, "-streams", STREAMS];
        attack(&program, url, &[&load[..], &connections[..]].concat(), &output)
    };
    Tool::new(&format!("sojourn attack, {way}"), command, move |_| attacks(&reader, &written))
}
