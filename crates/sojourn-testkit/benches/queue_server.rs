//! How exactly the queue server keeps its schedule, under a moderate load.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::num::NonZeroUsize;

use sojourn_clock::{SECOND_NS, now_ns, sleep_until};
use sojourn_testkit::{Draws, QueueServer, QueueShape};

fn main() -> std::io::Result<()> {
    let rate: u64 = 2_000;
    let requests = 3 * rate;
    let shape =
        QueueShape { servers: NonZeroUsize::MIN.saturating_add(3), ..QueueShape::default() };
    let server = QueueServer::start(shape, Draws::exponential(1_000_000, 1))?;
    let mut streams = Vec::new();
    for _ in 0..200 {
        let stream = TcpStream::connect(server.address())?;
        stream.set_nodelay(true)?;
        streams.push(stream);
    }
    let begin_ns = now_ns();
    for request in 0..requests {
        sleep_until(begin_ns + request * SECOND_NS / rate);
        let place = (request % 200) as usize;
        if request >= 200 {
            // The answer to the request of 100 ms ago.
            let _length = streams[place].read(&mut [0; 1024])?;
        }
        streams[place].write_all(b"GET / HTTP/1.1\r\n\r\n")?;
    }
    let elapsed_ns = now_ns() - begin_ns;
    let cpu_ns = server_cpu_ns(server.address().port())?;
    let mut late_ns: Vec<u64> = server
        .truth()
        .iter()
        .filter_map(|record| Some(record.sent_ns? - record.finish_ns))
        .collect();
    late_ns.sort_unstable();
    let rank = |share: f64| late_ns[((late_ns.len() - 1) as f64 * share) as usize] / 1000;
    println!("queue_server.rate {} requests/s", requests * SECOND_NS / elapsed_ns);
    println!("queue_server.cpu {:.1} us/request", cpu_ns as f64 / 1e3 / requests as f64);
    println!("queue_server.late_p50 {} us", rank(0.5));
    println!("queue_server.late_p99 {} us", rank(0.99));
    println!("queue_server.late_max {} us", rank(1.0));
    Ok(())
}

/// CPU time of the server's thread, which is named for its port.
fn server_cpu_ns(port: u16) -> std::io::Result<u64> {
    for task in std::fs::read_dir("/proc/self/task")? {
        let folder = task?.path();
        if std::fs::read_to_string(folder.join("comm"))?.trim() == format!("mock-{port}") {
            let schedstat = std::fs::read_to_string(folder.join("schedstat"))?;
            let cpu = schedstat.split(' ').next().and_then(|field| field.parse().ok());
            return Ok(cpu.unwrap_or(0));
        }
    }
    Ok(0)
}
