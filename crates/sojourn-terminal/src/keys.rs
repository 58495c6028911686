//! What keys ask for.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Hold the display, or let it go on.
    Pause,
    /// The next journey.
    NextJourney,
    /// The journey before.
    PreviousJourney,
    /// A tenth of the plan's rate more.
    Faster,
    /// A tenth of it less.
    Slower,
    /// End the run; again: at once.
    Stop,
    /// What the keys are, or no more of it.
    Help,
}

/// What this key asks for, if anything.
pub fn asked(key: KeyEvent) -> Option<Asked> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        // Raw mode makes keys of what would be signals.
        return (key.code == KeyCode::Char('c')).then_some(Asked::Stop);
    }
    match key.code {
        KeyCode::Char(' ') => Some(Asked::Pause),
        KeyCode::Tab | KeyCode::Down | KeyCode::Char('j') => Some(Asked::NextJourney),
        KeyCode::BackTab | KeyCode::Up | KeyCode::Char('k') => Some(Asked::PreviousJourney),
        // `=` is `+` without shift on many keyboards.
        KeyCode::Char('+' | '=') => Some(Asked::Faster),
        KeyCode::Char('-' | '_') => Some(Asked::Slower),
        KeyCode::Char('q' | 'Q') => Some(Asked::Stop),
        KeyCode::Char('?' | 'h') => Some(Asked::Help),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ctrl_c_is_a_key_in_raw_mode_and_other_chords_are_none() {
        let ctrl = |c: char| asked(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL));
        assert_eq!((ctrl('c'), ctrl('q'), ctrl(' ')), (Some(Asked::Stop), None, None));
        let plain = |code: KeyCode| asked(KeyEvent::new(code, KeyModifiers::NONE));
        assert_eq!(plain(KeyCode::Char('c')), None);
        assert_eq!(plain(KeyCode::Tab), Some(Asked::NextJourney));
        assert_eq!(plain(KeyCode::Char('=')), Some(Asked::Faster));
    }
}
