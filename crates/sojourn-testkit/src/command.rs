//! Running a program in a test: a few words for arguments, folder, input, and what came out.
//!
//! ```no_run
//! let folder = sojourn_testkit::temp_dir()?;
//! let output = sojourn_testkit::sojourn(["run", "plan.yaml"]).in_dir(&folder).run()?;
//! assert_eq!(output.code, Some(0), "{output}");
//! # Ok::<(), std::io::Error>(())
//! ```

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};
use sojourn_clock::{SECOND_NS, now_ns};

/// More output than this is cut off, which no honest test needs.
const OUTPUT_MAX: u64 = 64 << 20;
const PATIENCE: Duration = Duration::from_secs(60);

/// Variables that would send a test's load to this machine's proxies.
const PROXIES: [&str; 6] =
    ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"];

/// The `sojourn` binary with these arguments, without this machine's proxies.
///
/// It is the one that cargo built for the test (`CARGO_BIN_EXE_sojourn`), else the one beside the
/// test's own binary (`target/<profile>/sojourn`).
pub fn sojourn<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Program {
    let mut program = Program::new(sojourn_path()).args(args);
    for name in PROXIES {
        program.command.env_remove(name);
    }
    program
}

/// A program to be run once.
#[derive(Debug)]
pub struct Program {
    command: Command,
    input: Vec<u8>,
    timeout: Duration,
}

impl Program {
    /// This executable, without arguments, in the current folder, with an empty stdin.
    pub fn new(path: impl AsRef<OsStr>) -> Self {
        Self { command: Command::new(path), input: Vec::new(), timeout: PATIENCE }
    }

    /// Adds arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    /// Runs in this folder.
    pub fn in_dir(mut self, folder: impl AsRef<Path>) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// What it reads on stdin.
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = bytes.into();
        self
    }

    /// How long it may run before it is killed; 60 s unless said.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// The program is missing, or ran longer than its timeout and was killed.
    pub fn run(self) -> io::Result<Output> {
        self.start()?.wait()
    }

    /// Starts it and returns at once.
    ///
    /// # Errors
    /// The program is missing or cannot be started; the message names its path.
    pub fn start(mut self) -> io::Result<Running> {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own, so that it can be ended with all that it started.
        self.command.process_group(0);
        let path = PathBuf::from(self.command.get_program());
        let mut child = self.command.spawn().map_err(|error| {
            let hint = "is it built? try: cargo build --release -p sojourn-cli";
            io::Error::new(error.kind(), format!("{}: {error}; {hint}", path.display()))
        })?;
        let mut stdin = child.stdin.take();
        let input = std::mem::take(&mut self.input);
        // Its own thread, because a program may write before it has read everything. A program that
        // exits without reading is no error.
        let writer = std::thread::spawn(move || {
            if let Some(stdin) = &mut stdin {
                let _written = stdin.write_all(&input);
            }
        });
        Ok(Running {
            deadline_ns: now_ns() + self.timeout.as_nanos() as u64,
            timeout: self.timeout,
            stdout: child.stdout.take().map(gather),
            stderr: child.stderr.take().map(gather),
            writer: Some(writer),
            is_reaped: false,
            path,
            child,
        })
    }
}

/// A program that runs; dropped, it is killed with all that it started.
#[derive(Debug)]
pub struct Running {
    child: Child,
    path: PathBuf,
    timeout: Duration,
    deadline_ns: u64,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
    writer: Option<JoinHandle<()>>,
    is_reaped: bool,
}

impl Running {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGINT, as Ctrl-C does.
    ///
    /// # Errors
    /// The system refuses.
    pub fn interrupt(&self) -> io::Result<()> {
        Ok(kill_process(self.id()?, Signal::INT)?)
    }

    /// Sends SIGTERM, as whoever stops a service does.
    ///
    /// # Errors
    /// The system refuses.
    pub fn terminate(&self) -> io::Result<()> {
        Ok(kill_process(self.id()?, Signal::TERM)?)
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// It ran longer than its timeout and was killed; the message holds what it had printed.
    pub fn wait(mut self) -> io::Result<Output> {
        let mut pause = Duration::from_micros(200);
        while !self.has_ended()? {
            if now_ns() >= self.deadline_ns {
                self.end()?;
                let output = self.collect(None);
                let seconds = self.timeout.as_nanos() as f64 / SECOND_NS as f64;
                let message = format!("{} ran for {seconds} s: {output}", self.path.display());
                return Err(io::Error::new(io::ErrorKind::TimedOut, message));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
        let code = self.end()?.code();
        Ok(self.collect(code))
    }

    /// Looks without reaping, so that the process id stays ours until [`Self::end`].
    fn has_ended(&self) -> io::Result<bool> {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(self.id()?), look)?.is_some())
    }

    /// Kills it and all that it started in its group, which would hold its output open, and reaps.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if !std::mem::replace(&mut self.is_reaped, true) {
            // Fails when the whole group has ended already.
            let _killed = kill_process_group(self.id()?, Signal::KILL);
        }
        self.child.wait()
    }

    fn id(&self) -> io::Result<Pid> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        pid.ok_or_else(|| io::Error::other("no such process id"))
    }

    fn collect(&mut self, code: Option<i32>) -> Output {
        let text = |thread: Option<JoinHandle<Vec<u8>>>| {
            let bytes = thread.and_then(|thread| thread.join().ok()).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        if let Some(writer) = self.writer.take() {
            let _joined = writer.join();
        }
        Output { stdout: text(self.stdout.take()), stderr: text(self.stderr.take()), code }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _status = self.end();
    }
}

/// What a program printed and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Standard output; bytes that are not UTF-8 become replacement characters.
    pub stdout: String,
    /// Standard error, likewise.
    pub stderr: String,
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
}

impl fmt::Display for Output {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stdout, stderr, code } = self;
        write!(formatter, "exit code {code:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}\n---")
    }
}

fn gather(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error is kept.
        let _read = pipe.by_ref().take(OUTPUT_MAX).read_to_end(&mut bytes);
        let _drained = io::copy(&mut pipe, &mut io::sink());
        bytes
    })
}

/// Where the binary is that [`sojourn`] runs.
pub fn sojourn_path() -> OsString {
    if let Some(path) = std::env::var_os("CARGO_BIN_EXE_sojourn") {
        return path;
    }
    // Test binaries lie in target/<profile>/deps.
    let test = std::env::current_exe().unwrap_or_default();
    let profile =
        test.parent().and_then(Path::parent).unwrap_or_else(|| Path::new("target/release"));
    profile.join("sojourn").into_os_string()
}
