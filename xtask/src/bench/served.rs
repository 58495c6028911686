//! Servers under a comparison: one process on the first core, stopped when dropped.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::shell::command;

/// A server at work.
pub(super) struct Served {
    process: Child,
    pub(super) url: String,
    /// Of nginx: where it speaks HTTP/2 by prior knowledge.
    pub(super) http2_url: Option<String>,
}

impl Served {
    /// Starts a program on the first core; `arguments` are made from the address that it shall
    /// listen on.
    pub(super) fn start(
        program: &Path,
        arguments: impl FnOnce(&str) -> Vec<String>,
    ) -> Result<Self, String> {
        let name = program.display();
        let explain = |error: std::io::Error| format!("{name}: {error}");
        let address = free_address().map_err(explain)?;
        let process = pinned(program)
            .args(arguments(&address))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(explain)?;
        let server = Self { process, url: format!("http://{address}/"), http2_url: None };
        for _ in 0..100 {
            if is_answering(&address) {
                return Ok(server);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err(format!("{name} did not answer at {address} within 5 s"))
    }

    /// nginx answering 15 bytes; its files lie in `folder`.
    pub(super) fn nginx(program: &Path, folder: &Path) -> Result<Self, String> {
        std::fs::create_dir_all(folder).map_err(|error| format!("nginx: {error}"))?;
        let (configuration, log) = (folder.join("nginx.conf"), folder.join("error.log"));
        let http2 = free_address().map_err(|error| format!("nginx: {error}"))?;
        let mut written = Ok(());
        let started = Self::start(program, |address| {
            written = std::fs::write(&configuration, configure(folder, address, &http2));
            let path = |path: &Path| path.display().to_string();
            ["-e".to_owned(), path(&log), "-c".to_owned(), path(&configuration)].to_vec()
        });
        written.map_err(|error| format!("{}: {error}", configuration.display()))?;
        let mut server = started.map_err(|error| {
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            format!("{error}: {said}")
        })?;
        server.http2_url = Some(format!("http://{http2}/"));
        Ok(server)
    }

    /// taskset becomes the server, so the pid is the server's own.
    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Its memory that is really there: now and at most so far, bytes.
    pub(super) fn resident(&self) -> Result<(u64, u64), String> {
        let path = format!("/proc/{}/status", self.pid());
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let of = |name: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(name))?;
            value.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kb| kb * 1024)
        };
        of("VmRSS:").zip(of("VmHWM:")).ok_or_else(|| format!("{path}: not understood"))
    }

    /// What it answers to a GET of this path, head and body.
    pub(super) fn get(&self, path: &str) -> Result<String, String> {
        let address = self.url.trim_start_matches("http://").trim_end_matches('/');
        let ask = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect(address)?;
            stream.set_read_timeout(Some(Duration::from_secs(5)))?;
            let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
            stream.write_all(request.as_bytes())?;
            let mut answer = String::new();
            stream.take(1 << 20).read_to_string(&mut answer)?;
            Ok(answer)
        };
        ask().map_err(|error| format!("{address}{path}: {error}"))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Both fail only when it has ended already.
        let _killed = self.process.kill();
        let _waited = self.process.wait();
    }
}

fn pinned(program: &Path) -> Command {
    let mut command = command("taskset", &["-c", "0"]);
    command.arg(program);
    command
}

fn free_address() -> std::io::Result<String> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string())
}

fn configure(folder: &Path, address: &str, http2_address: &str) -> String {
    let folder = folder.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("  {name}_temp_path {folder}/{name};\n"))
        .concat();
    format!(
        r#"daemon off;
master_process off;
pid {folder}/nginx.pid;
events {{ worker_connections 16384; }}
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
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")?;
        let mut first = String::new();
        BufReader::new(stream.take(1024)).read_line(&mut first)?;
        Ok(first.contains("200"))
    };
    ask().unwrap_or(false)
}
