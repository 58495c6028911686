//! What has befallen the run, the latest first.

use sojourn_analysis::words;
use sojourn_live::frame::{News, NewsKind};

use super::{canvas::Canvas, head::clock, heading};
use crate::{palette::Role, view::View};

/// Draws it.
pub(super) fn draw(view: &View, canvas: &mut Canvas<'_>) {
    let frame = &view.frame;
    if canvas.height() == 0 {
        return;
    }
    let room = canvas.height() - 1;
    let hidden = frame.news.len().saturating_sub(room.into()) as u64;
    let hidden = hidden.saturating_add(frame.news_beyond);
    let words = match (frame.news.is_empty(), hidden) {
        (true, 0) => "no errors, nothing lost".to_owned(),
        (_, 0) => "errors and losses".to_owned(),
        (_, hidden) => format!("errors and losses ({} earlier)", words::count(hidden)),
    };
    heading(canvas, &words);
    let many = frame.journeys.len() > 1;
    for (news, row) in frame.news.iter().rev().zip(1..=room) {
        draw_one(news, many, row, canvas);
    }
}

fn draw_one(news: &News, many: bool, row: u16, canvas: &mut Canvas<'_>) {
    let (kind, role) = match news.kind {
        NewsKind::Error => ("! error", Role::Caution),
        NewsKind::Lost => ("✘ lost", Role::Bad),
        NewsKind::Failed => ("✘ failed", Role::Bad),
        NewsKind::Check => ("✘ check", Role::Bad),
        NewsKind::Limit => ("✘ limit", Role::Bad),
        NewsKind::Defect => ("✘ void", Role::Bad),
    };
    let times = match news.count {
        0 | 1 => String::new(),
        count => format!("{} ×", words::count(count)),
    };
    let journey = if many && !news.journey.is_empty() { news.journey.as_str() } else { "" };
    let x = canvas.put(0, row, u16::MAX, &clock(news.at_ns), Role::Quiet) + 1;
    canvas.put(x, row, u16::MAX, kind, role);
    let texts =
        [(times, Role::Plain), (journey.to_owned(), Role::Quiet), (news.text.clone(), Role::Plain)];
    canvas.row(x + 9, row, &texts);
}
