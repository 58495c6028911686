//! HTTP/2: our client beside h2load, against the same nginx.

use super::nginx::Nginx;
use super::outputs::{h2loads, ours};
use super::tool::{self, Tool, run_rounds};
use super::{SECONDS, build, needs, pinned};
use crate::bench::table::Table;

const CONNECTIONS: &str = "10";
const STREAMS: &str = "100";

/// Runs the comparison.
pub(in crate::bench) fn compare() -> Result<Table, String> {
    let (h2load, nginx) = (needs("h2load")?, needs("nginx")?);
    needs("taskset")?;
    let built = build()?;
    let mut tools = [
        Tool {
            name: "h2load",
            command: |program, url| {
                let connections = format!("-c{CONNECTIONS}");
                let streams = format!("-m{STREAMS}");
                pinned(program, &["-t1", &connections, &streams, "-D", SECONDS, url])
            },
            program: h2load,
            read: h2loads,
            samples: Vec::new(),
        },
        Tool {
            name: "sojourn-http, epoll",
            command: |program, url| pinned(program, &[url, CONNECTIONS, SECONDS, "epoll", STREAMS]),
            program: built.clone(),
            read: ours,
            samples: Vec::new(),
        },
        Tool {
            name: "sojourn-http, ring",
            command: |program, url| pinned(program, &[url, CONNECTIONS, SECONDS, "ring", STREAMS]),
            program: built,
            read: ours,
            samples: Vec::new(),
        },
    ];
    let server = Nginx::start(&nginx)?;
    run_rounds(&mut tools, &server, &server.http2_url)?;
    Ok(tool::table("HTTP/2, 10 connections × 100 streams, closed loop", &tools, "h2load"))
}
