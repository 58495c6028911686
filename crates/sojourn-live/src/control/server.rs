//! The side of the run: a thread that answers one asker after the other.

use std::{
    fs,
    io::{self, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use super::{RateWish, folder::folder, one_line, read_line};

/// How long nobody is heard after a connection could not be taken.
const PAUSE: Duration = Duration::from_millis(50);

/// What is done about a wish: what came of it in words, or why it can't be.
pub type OnWish = Box<dyn Fn(RateWish) -> Result<String, String> + Send>;

/// Listens for wishes about a run until it is dropped.
#[derive(Debug)]
pub struct ControlServer {
    path: PathBuf,
    closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ControlServer {
    /// Listens for the run with this id. Errs when there is no folder for it, or no socket.
    pub fn listen(run_id: &str, name: &str, on_wish: OnWish) -> io::Result<Self> {
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
        let id: String = run_id.chars().filter(is_plain).take(64).collect();
        let path = folder()?.join(format!("{id}-{}.sock", std::process::id()));
        let listener = UnixListener::bind(&path)?;
        let about = one_line(&format!("{run_id} {name}"));
        let closing = Arc::new(AtomicBool::new(false));
        let is_closing = Arc::clone(&closing);
        let serve = move || {
            for stream in listener.incoming() {
                if is_closing.load(Ordering::SeqCst) {
                    return;
                }
                match stream {
                    // Whoever went away needs no answer.
                    Ok(stream) => drop(answer(&stream, &about, &on_wish)),
                    // No descriptor is left, most likely: it is not asked for again at once.
                    Err(_) => std::thread::sleep(PAUSE),
                }
            }
        };
        let thread = std::thread::Builder::new().name("control".to_owned()).spawn(serve)?;
        Ok(Self { path, closing, thread: Some(thread) })
    }
}

impl Drop for ControlServer {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        // Wakes it. Where that is not possible it is left to the process's end.
        let is_awake = UnixStream::connect(&self.path).is_ok();
        let _ignored = fs::remove_file(&self.path);
        if let Some(thread) = self.thread.take().filter(|_| is_awake) {
            let _ignored = thread.join();
        }
    }
}

fn answer(mut stream: &UnixStream, about: &str, on_wish: &OnWish) -> io::Result<()> {
    let line = read_line(stream)?;
    let came = match line.split_once(' ') {
        None if line == "about" => Ok(about.to_owned()),
        Some(("rate", wish)) => RateWish::parse(wish).and_then(on_wish),
        _ => Err("asked for something that it does not know".to_owned()),
    };
    let (word, words) = match &came {
        Ok(words) => ("ok", words),
        Err(words) => ("no", words),
    };
    stream.write_all(format!("{word} {}\n", one_line(words)).as_bytes())
}
