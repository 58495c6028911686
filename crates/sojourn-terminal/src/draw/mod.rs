//! A frame as cells. Whatever the size, nothing is drawn outside the area: what has no room is
//! left out, the least important first.

mod canvas;
mod foot;
mod head;
mod journey;
mod news;
mod thresholds;

use ratatui::{buffer::Buffer, layout::Rect};

use crate::{palette::Role, view::View};
use canvas::Canvas;

/// From this width on, thresholds and news stand beside the journey instead of below it.
const WIDE: u16 = 140;
/// Rows of thresholds, heading included, that are shown below a journey at most.
const THRESHOLDS_BELOW: u16 = 6;
/// Rows of news, heading included, that are kept free for it below a journey.
const NEWS_BELOW: u16 = 4;

/// Draws what is looked at of a run into `area`.
pub fn draw(view: &View, area: Rect, buf: &mut Buffer) {
    let area = area.intersection(buf.area);
    let mut canvas = Canvas::new(buf, area, view.palette);
    let height = canvas.height();
    let head = head::draw(view, &mut canvas);
    if height > 1 {
        foot::draw(view, &mut canvas.part(0, height - 1, u16::MAX, 1));
    }
    let below = head.min(height);
    let body = height.saturating_sub(below + 1);
    if canvas.width() >= WIDE {
        beside(view, &mut canvas, below, body);
    } else {
        below_each_other(view, &mut canvas, below, body);
    }
    if view.shows_help {
        foot::help(&mut canvas);
    }
}

fn beside(view: &View, canvas: &mut Canvas<'_>, top: u16, rows: u16) {
    let left = canvas.width() * 3 / 5;
    let right = canvas.width() - left - 2;
    journey::draw(view, &mut canvas.part(0, top, left, rows));
    let wanted = thresholds::rows(view).min(rows * 2 / 3);
    thresholds::draw(view, &mut canvas.part(left + 2, top, right, wanted));
    news::draw(view, &mut canvas.part(left + 2, top + wanted, right, rows - wanted));
}

fn below_each_other(view: &View, canvas: &mut Canvas<'_>, top: u16, rows: u16) {
    let thresholds = thresholds::rows(view).min(THRESHOLDS_BELOW).min(rows / 3);
    let most = rows.saturating_sub(thresholds + NEWS_BELOW.min(rows / 4));
    let journey = journey::rows(view).min(most);
    let news = rows - thresholds - journey;
    journey::draw(view, &mut canvas.part(0, top, u16::MAX, journey));
    thresholds::draw(view, &mut canvas.part(0, top + journey, u16::MAX, thresholds));
    news::draw(view, &mut canvas.part(0, top + journey + thresholds, u16::MAX, news));
}

/// A part's heading: a rule with words on it. Where the words end.
fn heading(canvas: &mut Canvas<'_>, words: &str) -> u16 {
    let rule: String = "─".repeat(canvas.width().into());
    canvas.put(0, 0, u16::MAX, &rule, Role::Quiet);
    canvas.put(3, 0, u16::MAX, &format!(" {words} "), Role::Strong)
}
