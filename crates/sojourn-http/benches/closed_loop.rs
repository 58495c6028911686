//! Closed loop against a URL: requests per second and CPU per request; or, paced, how late waits
//! end.
//!
//! ```text
//! cargo bench -p sojourn-http --bench closed_loop -- URL CONNECTIONS SECONDS IO [STREAMS]
//! cargo bench -p sojourn-http --bench closed_loop -- lag RATE SECONDS IO
//! ```
//!
//! With STREAMS it speaks HTTP/2 by prior knowledge, so many requests at a time per connection.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;

use rustix::time::{ClockId, clock_gettime};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_http::{
    BodyPolicy, Client, ClientConfig, Exchange, Http2, Io, Origin, TlsOptions, origin_host_header,
    write_request,
};

const USAGE: &str =
    "URL CONNECTIONS SECONDS IO [STREAMS] | lag RATE SECONDS IO, IO being auto, epoll or ring";

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds `--bench`.
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [] => println!("nothing to do: give {USAGE}"),
        ["lag", rate, seconds, io] => lag(rate.parse()?, seconds.parse()?, parse_io(io)?)?,
        [url, connections, seconds, io] => {
            closed_loop(url, connections.parse()?, seconds.parse()?, parse_io(io)?, None)?;
        }
        [url, connections, seconds, io, streams] => {
            let streams = Some(streams.parse()?);
            closed_loop(url, connections.parse()?, seconds.parse()?, parse_io(io)?, streams)?;
        }
        _ => return Err(format!("usage: {USAGE}").into()),
    }
    Ok(())
}

fn parse_io(name: &str) -> Result<Io, Box<dyn Error>> {
    let known = [Io::Auto, Io::Epoll, Io::Ring];
    let io = known.into_iter().find(|io| io.name() == name);
    io.ok_or_else(|| format!("`{name}` is neither auto nor epoll nor ring").into())
}

/// Every connection, or every stream, sends its next request as soon as it has its answer.
fn closed_loop(
    url: &str,
    connections: usize,
    seconds: u64,
    io: Io,
    streams: Option<u32>,
) -> Result<(), Box<dyn Error>> {
    let mut client = Client::new(ClientConfig {
        tls: TlsOptions { insecure: true, ..TlsOptions::default() },
        connections_max: connections,
        http2: if streams.is_some() { Http2::PriorKnowledge } else { Http2::Off },
        http2_streams_max: streams.unwrap_or(1),
        io,
        ..ClientConfig::default()
    })?;
    let target = Origin::parse(url)?;
    let origin = client.origin(&target);
    let path = url::Url::parse(url)?.path().to_owned();
    let host = origin_host_header(&target);
    let headers: [(&str, &str); 0] = [];
    let mut bytes = Vec::new();
    write_request("GET", &path, &host, &headers, b"", &mut bytes)?;
    let exchange = |token| Exchange {
        token,
        origin,
        bytes: &bytes,
        head_only: false,
        timeout_ns: 30 * SECOND_NS,
        body: BodyPolicy::Discard,
    };
    let began_ns = now_ns();
    let ends_ns = began_ns + seconds * SECOND_NS;
    for token in 0..connections as u64 * u64::from(streams.unwrap_or(1)) {
        client.send(now_ns(), exchange(token));
    }
    let (mut requests, mut failures, mut service_ns) = (0_u64, 0_u64, 0_u64);
    let mut completions = Vec::new();
    let mut last_ns = began_ns;
    while last_ns < ends_ns {
        client.wait_until(ends_ns, &mut completions)?;
        last_ns = now_ns();
        for completion in completions.drain(..) {
            requests += 1;
            failures += u64::from(completion.outcome.is_err());
            service_ns += completion.ended_ns - completion.began_ns;
            // One reading of the clock per send, as a generator has it.
            client.send(now_ns(), exchange(completion.token));
        }
    }
    let usage = Usage::now()?;
    let per_request = |micros: u64| micros as f64 / requests.max(1) as f64;
    println!(
        "requests={requests} failures={failures} per_second={:.0} mean_us={:.1} cpu_us={:.2} \
         user_us={:.2} system_us={:.2}",
        requests as f64 * 1e9 / (last_ns - began_ns) as f64,
        service_ns as f64 / 1e3 / requests.max(1) as f64,
        per_request(usage.user_micros + usage.system_micros),
        per_request(usage.user_micros),
        per_request(usage.system_micros),
    );
    Ok(())
}

/// Waits for evenly spaced instants and says how late it was told of them.
fn lag(rate: u64, seconds: u64, io: Io) -> Result<(), Box<dyn Error>> {
    let mut client = Client::new(ClientConfig { io, ..ClientConfig::default() })?;
    let mut completions = Vec::new();
    let began_ns = now_ns() + SECOND_NS / 100;
    let mut late_ns: Vec<u64> = Vec::new();
    for arrival in 0..rate * seconds {
        let due_ns = began_ns + arrival * SECOND_NS / rate;
        client.wait_until(due_ns, &mut completions)?;
        late_ns.push(now_ns().saturating_sub(due_ns));
    }
    late_ns.sort_unstable();
    let percentile = |share: f64| {
        let rank = (share * late_ns.len() as f64).ceil() as usize;
        late_ns.get(rank.saturating_sub(1)).map_or(0.0, |ns| *ns as f64 / 1e3)
    };
    let cpu_ns = clock_gettime(ClockId::ProcessCPUTime);
    println!(
        "arrivals={} lag_us p50={:.1} p90={:.1} p99={:.1} max={:.1} cpu_us_per_wait={:.2}",
        late_ns.len(),
        percentile(0.5),
        percentile(0.9),
        percentile(0.99),
        percentile(1.0),
        (cpu_ns.tv_sec as f64 * 1e6 + cpu_ns.tv_nsec as f64 / 1e3) / late_ns.len() as f64,
    );
    Ok(())
}

/// The process's CPU time so far.
struct Usage {
    user_micros: u64,
    system_micros: u64,
}

impl Usage {
    /// From `/proc/self/stat`, fields 14 and 15, in ticks of 10 ms: fine over seconds.
    fn now() -> Result<Self, Box<dyn Error>> {
        let stat = std::fs::read_to_string("/proc/self/stat")?;
        // The second field, a name in parentheses, may have spaces.
        let (_, fields) = stat.rsplit_once(") ").ok_or("no name in /proc/self/stat")?;
        let mut ticks = fields.split(' ').skip(11).map(str::parse::<u64>);
        let user = ticks.next().ok_or("no user time")??;
        let system = ticks.next().ok_or("no system time")??;
        Ok(Self { user_micros: user * 10_000, system_micros: system * 10_000 })
    }
}
