//! nginx as the server of a comparison.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use super::scratch;
use crate::shell::command;

/// nginx as one process on the first core, answering 15 bytes; stopped when dropped.
pub(super) struct Nginx {
    process: Child,
    /// Speaks HTTP/1.1.
    pub(super) url: String,
    /// Speaks HTTP/2 by prior knowledge.
    pub(super) http2_url: String,
}

impl Nginx {
    pub(super) fn start(program: &Path) -> Result<Self, String> {
        let folder = scratch("");
        let explain = |error: std::io::Error| format!("nginx: {error}");
        std::fs::create_dir_all(&folder).map_err(explain)?;
        let bind = || TcpListener::bind("127.0.0.1:0").map_err(explain);
        let listeners = [bind()?, bind()?];
        let [Ok(address), Ok(http2_address)] = listeners.each_ref().map(TcpListener::local_addr)
        else {
            return Err("nginx: no free port".to_owned());
        };
        drop(listeners);
        let configuration = folder.join("nginx.conf");
        std::fs::write(&configuration, configure(&folder, address, http2_address))
            .map_err(explain)?;
        let log = folder.join("error.log");
        let process = command("taskset", &["-c", "0"])
            .arg(program)
            .arg("-e")
            .arg(&log)
            .arg("-c")
            .arg(&configuration)
            .stdout(Stdio::null())
            .spawn()
            .map_err(explain)?;
        let server = Self {
            process,
            url: format!("http://{address}/"),
            http2_url: format!("http://{http2_address}/"),
        };
        for _ in 0..100 {
            if is_answering(&address.to_string()) {
                return Ok(server);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        Err(format!("nginx did not answer at {address} within 5 s: {said}"))
    }

    /// taskset becomes nginx, so the pid is nginx's own.
    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Both fail only when it has ended already.
        let _killed = self.process.kill();
        let _waited = self.process.wait();
    }
}

fn configure(folder: &Path, address: SocketAddr, http2_address: SocketAddr) -> String {
    let folder = folder.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("  {name}_temp_path {folder}/{name};\n"))
        .concat();
    format!(
        r#"daemon off;
master_process off;
pid {folder}/nginx.pid;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  keepalive_requests 1000000000;
{temporary}
  server {{
    listen {address};
    location / {{ return 200 "hello, sojourn\n"; }}
  }}
  server {{
    listen {http2_address} http2;
    location / {{ return 200 "hello, sojourn\n"; }}
  }}
}}
"#
    )
}

fn is_answering(address: &str) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")?;
        let mut first = String::new();
        BufReader::new(stream.take(1024)).read_line(&mut first)?;
        Ok(first.contains("200"))
    };
    ask().unwrap_or(false)
}
