//! Colours by what they stand for. None of them says anything that a sign or a word does not say
//! too.

use ratatui::style::{Color, Modifier, Style};

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// As it is.
    Plain,
    /// Less than the rest: names of figures, rules.
    Quiet,
    /// More than the rest.
    Strong,
    /// As it should be.
    Good,
    /// Know this.
    Caution,
    /// Lost, failed, void.
    Bad,
    /// Bars and lines.
    Bar,
}

/// Colours, or none where `NO_COLOR` asks for none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Palette {
    pub(crate) has_colour: bool,
}

impl Palette {
    /// How a role looks.
    pub(crate) fn style(self, role: Role) -> Style {
        let plain = Style::new();
        let coloured = |colour: Color| if self.has_colour { plain.fg(colour) } else { plain };
        match role {
            Role::Plain => plain,
            Role::Quiet if self.has_colour => plain.fg(Color::DarkGray),
            Role::Quiet => plain.add_modifier(Modifier::DIM),
            Role::Strong => plain.add_modifier(Modifier::BOLD),
            Role::Good => coloured(Color::Green),
            Role::Caution => coloured(Color::Yellow),
            Role::Bad => coloured(Color::Red).add_modifier(Modifier::BOLD),
            Role::Bar => coloured(Color::Cyan),
        }
    }
}
