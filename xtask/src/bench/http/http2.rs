//! HTTP/2: our client beside h2load, against the same nginx.

use super::closed::table;
use super::outputs::{h2loads, ours};
use super::tool::{Tool, run_rounds};
use super::{SECONDS, build, needs, nginx, pinned};
use crate::bench::table::Table;

const CONNECTIONS: &str = "10";
const STREAMS: &str = "100";

/// Runs the comparison.
pub(in crate::bench) fn compare() -> Result<Vec<Table>, String> {
    let (h2load, server) = (needs("h2load")?, nginx()?);
    let built = build()?;
    let mut tools = Vec::new();
    for way in ["epoll", "ring"] {
        let program = built.clone();
        tools.push(Tool::new(
            &format!("sojourn-http, {way}"),
            move |url| pinned(&program, &[url, CONNECTIONS, SECONDS, way, STREAMS]),
            ours,
        ));
    }
    let command = move |url: &str| {
        let (connections, streams) = (format!("-c{CONNECTIONS}"), format!("-m{STREAMS}"));
        pinned(&h2load, &["-t1", &connections, &streams, "-D", SECONDS, url])
    };
    tools.push(Tool::new("h2load", command, h2loads));
    let url = server.http2_url.clone().ok_or("nginx speaks no HTTP/2")?;
    run_rounds(&mut tools, &server, &url)?;
    Ok(vec![table("HTTP/2, 10 connections × 100 streams, closed loop", &tools, "h2load")])
}
