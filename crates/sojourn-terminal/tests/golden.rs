//! Screens against golden files. `UPDATE_GOLDEN=1` writes them anew.

use ratatui::{buffer::Buffer, layout::Rect, style::Color};
use sojourn_live::frame::{CheckFrame, FrameStretch};
use sojourn_terminal::{Asked, View, draw};

use super::made::{attack, payments, text, view};

fn compare(name: &str, view: &View) {
    for (width, height) in [(80, 24), (200, 60)] {
        let actual = text(view, width, height);
        let manifest = env!("CARGO_MANIFEST_DIR");
        let path = format!("{manifest}/tests/golden/{name}-{width}x{height}.txt");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::create_dir_all(format!("{manifest}/tests/golden")).unwrap();
            std::fs::write(&path, &actual).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap();
        assert!(actual == expected, "{path} differs; it is now:\n{actual}");
    }
}

#[test]
fn a_run_with_stages() {
    compare("payments", &view((10..=42).map(payments)));
}

#[test]
fn an_attack_with_many_targets_that_the_generator_limits() {
    compare("attack", &view([attack()]));
}

#[test]
fn before_the_first_second() {
    compare("preparing", &View::new("payments", false));
}

#[test]
fn held_with_help_and_another_journey() {
    let mut view = view([payments(42)]);
    for asked in [Asked::NextJourney, Asked::Pause, Asked::Help] {
        assert!(view.on(asked));
    }
    view.say("stopping: no new arrivals");
    compare("help", &view);
}

#[test]
fn a_session_while_it_drains() {
    let mut frame = attack();
    frame.stretch = FrameStretch::Drain;
    frame.planned_ns = 30_000_000_000;
    frame.clients = Some(1_234.0);
    let check = |name: &str, failed: u64| CheckFrame { name: name.to_owned(), held: 90, failed };
    frame.checks = vec![check("has a basket", 0), check("is logged in", 7)];
    frame.journeys[0].steps.truncate(2);
    compare("session", &view([frame]));
}

/// The colours of the cells that a view draws.
fn colours(has_colour: bool) -> Vec<Color> {
    let mut view = View::new("payments", has_colour);
    view.take(std::sync::Arc::new(payments(42)));
    let area = Rect::new(0, 0, 80, 24);
    let mut buf = Buffer::empty(area);
    draw(&view, area, &mut buf);
    let mut colours: Vec<Color> = buf.content.iter().map(|cell| cell.fg).collect();
    colours.sort_unstable_by_key(|colour| format!("{colour:?}"));
    colours.dedup();
    colours
}

#[test]
fn without_colour_there_is_none_and_with_it_what_fails_is_red() {
    assert_eq!(colours(false), [Color::Reset]);
    assert!(colours(true).contains(&Color::Red));
}
