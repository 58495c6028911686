//! Thresholds: a sign, the condition, what was measured. Those that fail come first where not all
//! have room.

use sojourn_live::frame::{ThresholdFrame, ThresholdState};

use super::{
    canvas::{Canvas, columns},
    heading,
};
use crate::{palette::Role, view::View};

/// Rows that they want.
pub(super) fn rows(view: &View) -> u16 {
    match view.frame.thresholds.len() {
        0 => 0,
        count => u16::try_from(count + 1).unwrap_or(u16::MAX),
    }
}

/// Draws them.
pub(super) fn draw(view: &View, canvas: &mut Canvas<'_>) {
    let all = &view.frame.thresholds;
    if all.is_empty() {
        return;
    }
    let failing = all.iter().filter(|it| it.state == ThresholdState::Fails).count();
    let words = match failing {
        0 => format!("thresholds ({})", all.len()),
        count => format!("thresholds: ✘ {count} of {} not held", all.len()),
    };
    heading(canvas, &words);
    let room = canvas.height().saturating_sub(1);
    let mut shown: Vec<&ThresholdFrame> = all.iter().collect();
    if shown.len() > room.into() {
        shown.sort_by_key(|it| match it.state {
            ThresholdState::Fails => 0,
            ThresholdState::NoneYet => 1,
            ThresholdState::Holds => 2,
        });
    }
    for (threshold, row) in shown.into_iter().zip(1..=room) {
        draw_one(threshold, row, canvas);
    }
}

fn draw_one(threshold: &ThresholdFrame, row: u16, canvas: &mut Canvas<'_>) {
    let (sign, role) = match threshold.state {
        ThresholdState::NoneYet => ("·", Role::Quiet),
        ThresholdState::Holds => ("✔", Role::Good),
        ThresholdState::Fails => ("✘", Role::Bad),
    };
    canvas.put(0, row, 1, sign, role);
    let width = canvas.width();
    let measured = columns(&threshold.measured_text);
    let room = width.saturating_sub(2 + measured + 1);
    let text = if threshold.state == ThresholdState::Fails { Role::Bad } else { Role::Plain };
    canvas.put(2, row, room, &threshold.text, text);
    canvas.right(2 + room, row, width.saturating_sub(2 + room), &threshold.measured_text, role);
}
