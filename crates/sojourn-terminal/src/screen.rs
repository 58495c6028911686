//! The thread that owns the screen. It draws on a new frame, a key and a change of size, and on
//! nothing else; a slow terminal holds up nobody but this thread.

use std::{
    io::{self, BufWriter, Stderr, Write, stderr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use crossbeam_channel::{Receiver, Sender, bounded};
use crossterm::{
    event::{self, Event},
    queue,
    terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate},
};
use ratatui::{Terminal, backend::CrosstermBackend};
use sojourn_live::frame::Frame;

use crate::{
    draw,
    keys::{Asked, asked},
    terminal,
    view::View,
};

/// Most frames that wait for the display; a terminal that is slower than that misses some.
const FRAMES_MAX: usize = 8;
/// Most notices that wait.
const NOTICES_MAX: usize = 16;
/// How often frames and the end are looked for between keys.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// What a screen of 200 × 60 takes when all of it is new.
const BUFFER_BYTES: usize = 1 << 17;
/// By how much a key changes the rate, in tenths of the plan's.
const TENTHS: f64 = 10.0;

/// What keys ask of the run.
pub trait Controls: Send {
    /// Why the rate can't be changed; `None` where it can.
    fn fixed_rate(&self) -> Option<String>;
    /// Times the plan's rate that is in force.
    fn rate_factor(&self) -> f64;
    /// Asks for so many times the plan's rate; `false` when that can't be asked now.
    fn ask_rate(&self, rate_factor: f64) -> bool;
    /// Asks the run to end; again: at once.
    fn stop(&self);
}

/// A screen that shows a run.
#[derive(Debug)]
pub struct Screen {
    frames: Sender<Arc<Frame>>,
    closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    left_out: u64,
}

impl Screen {
    /// Takes the terminal and shows that the run called `name` is being prepared. Errs when there
    /// is no terminal, or another screen has it.
    pub fn open(
        name: &str,
        has_colour: bool,
        controls: impl Controls + 'static,
    ) -> io::Result<Self> {
        let (frames, shown) = bounded(FRAMES_MAX);
        let (sender, notices) = bounded(NOTICES_MAX);
        terminal::take(sender)?;
        let closing = Arc::new(AtomicBool::new(false));
        let owner = Owner {
            view: View::new(name, has_colour),
            frames: shown,
            notices,
            closing: Arc::clone(&closing),
            controls: Box::new(controls),
            asked_factor: None,
        };
        let thread = std::thread::Builder::new().name("display".to_owned()).spawn(move || {
            // A terminal that is gone ends the display, not the run.
            let _ignored = owner.live();
            terminal::restore();
        });
        match thread {
            Ok(thread) => Ok(Self { frames, closing, thread: Some(thread), left_out: 0 }),
            Err(error) => {
                terminal::restore();
                Err(error)
            }
        }
    }

    /// Shows a frame, as soon as the terminal takes it.
    pub fn show(&mut self, frame: Arc<Frame>) {
        if self.frames.try_send(frame).is_err() && terminal::is_taken() {
            self.left_out += 1;
        }
    }

    /// Gives the terminal back. How many frames had no room because the terminal was slow.
    pub fn close(&mut self) -> u64 {
        self.closing.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            // It has given the terminal back even if it panicked.
            let _ignored = thread.join();
        }
        terminal::restore();
        self.left_out
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.close();
    }
}

type Out = CrosstermBackend<BufWriter<Stderr>>;

struct Owner {
    view: View,
    frames: Receiver<Arc<Frame>>,
    notices: Receiver<String>,
    closing: Arc<AtomicBool>,
    controls: Box<dyn Controls>,
    /// What a key asked for and is not in force yet: keys come faster than decisions.
    asked_factor: Option<f64>,
}

impl Owner {
    fn live(mut self) -> io::Result<()> {
        let out = BufWriter::with_capacity(BUFFER_BYTES, stderr());
        let mut terminal = Terminal::new(CrosstermBackend::new(out))?;
        let mut is_new = true;
        while !self.closing.load(Ordering::SeqCst) && terminal::is_taken() {
            while let Ok(frame) = self.frames.try_recv() {
                self.asked_factor = None;
                is_new |= self.view.take(frame);
            }
            while let Ok(notice) = self.notices.try_recv() {
                self.view.say(&notice);
                is_new = true;
            }
            if is_new {
                self.draw(&mut terminal)?;
            }
            is_new = self.keys()?;
        }
        Ok(())
    }

    /// Draws it as one update, so that no terminal shows half of it.
    fn draw(&self, terminal: &mut Terminal<Out>) -> io::Result<()> {
        queue!(terminal.backend_mut(), BeginSynchronizedUpdate)?;
        terminal.draw(|screen| {
            let area = screen.area();
            draw(&self.view, area, screen.buffer_mut());
        })?;
        queue!(terminal.backend_mut(), EndSynchronizedUpdate)?;
        Write::flush(terminal.backend_mut())
    }

    /// Waits a little for keys and does what they ask; whether there is something new to see.
    fn keys(&mut self) -> io::Result<bool> {
        let mut is_new = false;
        let mut wait = LOOK_EVERY;
        while event::poll(wait)? {
            wait = Duration::ZERO;
            match event::read()? {
                Event::Key(key) => {
                    if let Some(asked) = asked(key) {
                        self.on(asked);
                        is_new = true;
                    }
                }
                Event::Resize(..) => is_new = true,
                _ => {}
            }
        }
        Ok(is_new)
    }

    fn on(&mut self, asked: Asked) {
        if self.view.on(asked) {
            return;
        }
        match asked {
            Asked::Stop => self.controls.stop(),
            Asked::Faster => self.change_rate(1.0),
            Asked::Slower => self.change_rate(-1.0),
            _ => {}
        }
    }

    /// Asks for so many tenths of the plan's rate more.
    fn change_rate(&mut self, tenths: f64) {
        if let Some(why) = self.controls.fixed_rate() {
            self.view.say(&format!("the rate stays as it is: {why}"));
            return;
        }
        let factor = self.asked_factor.unwrap_or_else(|| self.controls.rate_factor());
        let wanted = ((factor * TENTHS).round() + tenths).max(0.0) / TENTHS;
        if self.controls.ask_rate(wanted) {
            self.asked_factor = Some(wanted);
            self.view.say(&format!("rate: {wanted} × the plan's, in half a second"));
        } else {
            self.view.say("the rate can't be changed so fast");
        }
    }
}
