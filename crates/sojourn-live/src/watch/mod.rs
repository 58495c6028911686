//! Watching channels without load: rates, sizes, keys, types and sample messages, second by second.

mod figures;
mod message;

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use sojourn_broker::{OpenDecoder, RawMessage, Sink, Tap};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::Channel;

use figures::Figures;
pub use message::Message;

/// Messages that wait to be printed; further ones are counted and not printed.
const QUEUE_MAX: usize = 10_000;
/// How long a tap waits for messages before it looks whether to stop.
const POLL: Duration = Duration::from_millis(20);
/// How often to look for messages to print.
const LOOK: Duration = Duration::from_millis(50);

/// How to watch.
#[derive(Clone, Copy, Debug, Default)]
pub struct WatchOptions {
    /// How long, nanoseconds; `None`: until stopped.
    pub length_ns: Option<u64>,
    /// Most messages shown of each channel and second.
    pub samples: u64,
    /// Every message as a line of JSON, instead of samples in words.
    pub json: bool,
}

/// A channel with its open tap.
pub struct Watched {
    /// The channel.
    pub channel: Channel,
    /// Its tap, open.
    pub tap: Box<dyn Tap>,
    /// Its decoder, open.
    pub decoder: OpenDecoder,
}

/// Watches until the time is up, `stop` says so, or a tap is lost. Messages go to `out`, rates to
/// `progress`. Errs in words when a tap is lost or `out` can't be written.
pub fn watch(
    watched: Vec<Watched>,
    options: &WatchOptions,
    stop: &dyn Fn() -> bool,
    out: &mut dyn Write,
    progress: &mut dyn Write,
) -> Result<(), String> {
    let ended = Arc::new(AtomicBool::new(false));
    let (sender, messages) = bounded(QUEUE_MAX);
    let (lost_sender, lost) = bounded(watched.len().max(1));
    let mut board = Vec::new();
    let mut threads = Vec::new();
    for Watched { channel, tap, decoder } in watched {
        let figures = Arc::new(Mutex::new(Figures::default()));
        board.push((channel.name.clone(), Arc::clone(&figures)));
        let samples = if options.json { u64::MAX } else { options.samples };
        let listener = Listener {
            name: channel.name,
            decoder,
            figures,
            messages: sender.clone(),
            samples,
            json: options.json,
        };
        let (ended, lost) = (Arc::clone(&ended), lost_sender.clone());
        threads.push(std::thread::spawn(move || listen(tap, listener, &ended, &lost)));
    }
    let told = tell(&board, &messages, &lost, options, stop, out, progress);
    ended.store(true, Ordering::SeqCst);
    for thread in threads {
        // A tap that panics ends its channel; what was seen has been told.
        let _ignored = thread.join();
    }
    told
}

/// Prints until it is time to end.
fn tell(
    board: &[(String, Arc<Mutex<Figures>>)],
    messages: &Receiver<Message>,
    lost: &Receiver<String>,
    options: &WatchOptions,
    stop: &dyn Fn() -> bool,
    out: &mut dyn Write,
    progress: &mut dyn Write,
) -> Result<(), String> {
    let start_ns = now_ns();
    let mut second_ns = start_ns + SECOND_NS;
    let mut seconds = 0;
    loop {
        if let Ok(first) = messages.recv_timeout(LOOK) {
            for message in std::iter::once(first).chain(messages.try_iter()) {
                let line = if options.json { message.json() } else { message.in_words() };
                writeln!(out, "{line}").map_err(|error| format!("cannot print: {error}"))?;
            }
            out.flush().map_err(|error| format!("cannot print: {error}"))?;
        }
        if let Ok(why) = lost.try_recv() {
            return Err(why);
        }
        let now = now_ns();
        let is_over = options.length_ns.is_some_and(|length_ns| now >= start_ns + length_ns);
        if now >= second_ns || is_over {
            second_ns += SECOND_NS;
            seconds += 1;
            let width = board.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
            for (name, figures) in board {
                let mut figures = figures.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(line) = figures.second(seconds) {
                    // Nobody may look; the messages are what counts.
                    let _ignored = writeln!(progress, "{seconds:>4} s  {name:<width$}  {line}");
                }
            }
        }
        if is_over || stop() {
            return Ok(());
        }
    }
}

/// A tap's thread.
fn listen(
    mut tap: Box<dyn Tap>,
    mut listener: Listener,
    ended: &AtomicBool,
    lost: &Sender<String>,
) {
    while !ended.load(Ordering::Relaxed) {
        if let Err(error) = tap.poll(POLL, &mut listener) {
            let hint = error.hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}"));
            // One place for each channel.
            let _ignored = lost.try_send(format!("channel {}: {error}{hint}", listener.name));
            return;
        }
    }
}

/// What a tap hands its messages to.
struct Listener {
    name: String,
    decoder: OpenDecoder,
    figures: Arc<Mutex<Figures>>,
    messages: Sender<Message>,
    samples: u64,
    json: bool,
}

impl Sink for Listener {
    fn message(&mut self, message: &RawMessage<'_>) {
        let decoded = self.decoder.decode(message);
        let mut figures = self.figures.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = figures.add(message, decoded.as_ref().ok());
        if shown < self.samples {
            let event_type = decoded.ok().and_then(|decoded| decoded.event_type);
            let message = Message::of(&self.name, event_type, message, self.json);
            if self.messages.try_send(message).is_err() {
                figures.not_printed();
            }
        }
    }

    fn unacceptable(&mut self, message: &RawMessage<'_>, _reason: &str) {
        let mut figures = self.figures.lock().unwrap_or_else(PoisonError::into_inner);
        let _shown = figures.add(message, None);
    }
}
