//! A part of the screen that nothing is drawn outside of.

use ratatui::{buffer::Buffer, layout::Rect, text::Span};

use crate::palette::{Palette, Role};

/// Parts of a full cell, from an eighth up.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// A part of the screen. Positions are relative to its corner; text beyond its edge is cut.
pub(super) struct Canvas<'a> {
    buf: &'a mut Buffer,
    area: Rect,
    palette: Palette,
}

impl<'a> Canvas<'a> {
    pub(super) fn new(buf: &'a mut Buffer, area: Rect, palette: Palette) -> Self {
        Self { buf, area, palette }
    }

    pub(super) fn width(&self) -> u16 {
        self.area.width
    }

    pub(super) fn height(&self) -> u16 {
        self.area.height
    }

    /// A part of this part, as far as it has so much.
    pub(super) fn part(&mut self, x: u16, y: u16, width: u16, height: u16) -> Canvas<'_> {
        let x = x.min(self.area.width);
        let y = y.min(self.area.height);
        let area = Rect {
            x: self.area.x + x,
            y: self.area.y + y,
            width: width.min(self.area.width - x),
            height: height.min(self.area.height - y),
        };
        Canvas { buf: self.buf, area, palette: self.palette }
    }

    /// Empties it.
    pub(super) fn clear(&mut self) {
        for position in self.area.positions() {
            self.buf[position].reset();
        }
    }

    /// Writes text, at most `width` columns of it; where it ends. Text that has no room ends in
    /// `…`.
    pub(super) fn put(&mut self, x: u16, y: u16, width: u16, text: &str, role: Role) -> u16 {
        if x >= self.area.width || y >= self.area.height {
            return x;
        }
        let width = width.min(self.area.width - x);
        let style = self.palette.style(role);
        let (x, y) = (self.area.x + x, self.area.y + y);
        let (mut end, _) = self.buf.set_stringn(x, y, text, width.into(), style);
        if columns(text) > width && width > 0 {
            end = x + width;
            self.buf.set_stringn(end - 1, y, "…", 1, style);
        }
        end - self.area.x
    }

    /// Writes several texts in a row, a space between them; where they end.
    pub(super) fn row(&mut self, x: u16, y: u16, texts: &[(String, Role)]) -> u16 {
        texts
            .iter()
            .filter(|(text, _)| !text.is_empty())
            .fold(x, |x, (text, role)| self.put(x, y, u16::MAX, text, *role).saturating_add(1))
    }

    /// Writes text so that it ends at the right edge of `width` columns.
    pub(super) fn right(&mut self, x: u16, y: u16, width: u16, text: &str, role: Role) {
        let gap = width.saturating_sub(columns(text));
        self.put(x.saturating_add(gap), y, width - gap, text, role);
    }

    /// A bar of this share of `width` columns, in eighths of one.
    pub(super) fn bar(&mut self, x: u16, y: u16, width: u16, share: f64, role: Role) {
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        let eighths = (share * f64::from(width) * 8.0).round() as usize;
        // Something is never drawn as nothing.
        let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
        let mut bar: String = "█".repeat(eighths / 8);
        bar.extend((eighths % 8 > 0).then(|| EIGHTHS[eighths % 8 - 1]));
        self.put(x, y, width, &bar, role);
    }
}

/// Columns that a text takes on the screen.
pub(super) fn columns(text: &str) -> u16 {
    u16::try_from(Span::raw(text).width()).unwrap_or(u16::MAX)
}
