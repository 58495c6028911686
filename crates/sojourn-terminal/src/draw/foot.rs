//! The last row: what was said last, or what the keys are; and the keys in full.

use super::canvas::{Canvas, columns};
use crate::{palette::Role, view::View};

const KEYS: [(&str, &str); 6] = [
    ("space", "hold the display, or let it go on; the run goes on either way"),
    ("tab j", "the next journey"),
    ("k", "the journey before"),
    ("+ −", "the rate by a tenth of the plan's; the report says when, and by whom"),
    ("q ^C", "no new arrivals, wait for the rest, report; again: at once"),
    ("?", "these keys, or no more of them"),
];

/// Draws the row.
pub(super) fn draw(view: &View, canvas: &mut Canvas<'_>) {
    match &view.notice {
        Some(notice) => {
            let help = "? keys";
            let room = canvas.width().saturating_sub(columns(help) + 1);
            canvas.put(0, 0, room, notice, Role::Strong);
            canvas.right(room, 0, columns(help) + 1, help, Role::Quiet);
        }
        None => {
            let keys = "space hold   tab journey   + − rate   q stop   ? keys";
            canvas.put(0, 0, u16::MAX, keys, Role::Quiet);
        }
    }
}

/// Draws the keys over everything.
pub(super) fn help(canvas: &mut Canvas<'_>) {
    let text = KEYS.iter().map(|(_, what)| columns(what)).max().unwrap_or(0);
    let (width, height) = (text + 12, KEYS.len() as u16 + 2);
    let x = canvas.width().saturating_sub(width) / 2;
    let y = canvas.height().saturating_sub(height) / 2;
    let mut help = canvas.part(x, y, width, height);
    help.clear();
    let rule: String = "─".repeat(help.width().into());
    let last = help.height().saturating_sub(1);
    help.put(0, 0, u16::MAX, &rule, Role::Quiet);
    help.put(2, 0, u16::MAX, " keys ", Role::Strong);
    for (row, (key, what)) in (1..).zip(KEYS) {
        help.put(1, row, 8, key, Role::Strong);
        help.put(10, row, u16::MAX, what, Role::Plain);
    }
    help.put(0, last, u16::MAX, &rule, Role::Quiet);
}
