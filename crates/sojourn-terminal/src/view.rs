//! What of a run is looked at: the frame on the screen, and what was chosen with keys.

use std::sync::Arc;

use sojourn_live::frame::Frame;

use crate::{history::History, keys::Asked, palette::Palette};

/// What of a run is looked at.
#[derive(Debug)]
pub struct View {
    pub(crate) frame: Arc<Frame>,
    /// The newest one, while the display is held.
    waiting: Option<Arc<Frame>>,
    pub(crate) is_paused: bool,
    pub(crate) shows_help: bool,
    pub(crate) selected: usize,
    /// The latest thing that was said to the user.
    pub(crate) notice: Option<String>,
    pub(crate) history: History,
    pub(crate) palette: Palette,
}

impl View {
    /// A view of a run called `name` that has not begun.
    pub fn new(name: &str, has_colour: bool) -> Self {
        Self {
            frame: Arc::new(Frame { name: name.to_owned(), rate_factor: 1.0, ..Frame::default() }),
            waiting: None,
            is_paused: false,
            shows_help: false,
            selected: 0,
            notice: None,
            history: History::default(),
            palette: Palette { has_colour },
        }
    }

    /// Takes in a frame; whether there is something new to see.
    pub fn take(&mut self, frame: Arc<Frame>) -> bool {
        self.history.take(&frame);
        if self.is_paused {
            self.waiting = Some(frame);
        } else {
            self.frame = frame;
        }
        !self.is_paused
    }

    /// Says something to the user until something else is said.
    pub fn say(&mut self, notice: &str) {
        self.notice = Some(notice.trim().to_owned());
    }

    /// Does what a key asks of the view itself; `false` for what it asks of the run.
    pub fn on(&mut self, asked: Asked) -> bool {
        let journeys = self.frame.journeys.len().max(1);
        match asked {
            Asked::Pause => {
                self.is_paused = !self.is_paused;
                if let Some(frame) = self.waiting.take() {
                    self.frame = frame;
                }
            }
            Asked::NextJourney => self.selected = (self.selected + 1) % journeys,
            Asked::PreviousJourney => self.selected = (self.selected + journeys - 1) % journeys,
            Asked::Help => self.shows_help = !self.shows_help,
            Asked::Faster | Asked::Slower | Asked::Stop => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_display_keeps_its_frame_and_then_shows_the_newest() {
        let frame = |number: u64| Arc::new(Frame { number, ..Frame::default() });
        let mut view = View::new("run", false);
        assert!(view.take(frame(1)) && view.on(Asked::Pause));
        assert!(!view.take(frame(2)) && !view.take(frame(3)));
        assert_eq!(view.frame.number, 1);
        assert!(view.on(Asked::Pause));
        assert_eq!(view.frame.number, 3);
        assert!(!view.on(Asked::Stop));
    }
}
