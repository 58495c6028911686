//! Frames made by hand.

use std::sync::Arc;

use ratatui::{buffer::Buffer, layout::Rect};
use sojourn_live::frame::*;
use sojourn_terminal::{View, draw};

const S: u64 = 1_000_000_000;
pub(crate) const MS: f64 = 1e6;

/// The cells of a view as text, without spaces at the ends of lines.
pub(crate) fn text(view: &View, width: u16, height: u16) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    draw(view, area, &mut buf);
    let row = |y: u16| {
        let row: String = (0..width).map(|x| buf[(x, y)].symbol()).collect();
        row.trim_end().to_owned() + "\n"
    };
    (0..height).map(row).collect()
}

/// A view that was shown these frames.
pub(crate) fn view(frames: impl IntoIterator<Item = Frame>) -> View {
    let mut view = View::new("payments", false);
    for frame in frames {
        view.take(Arc::new(frame));
    }
    view
}

fn spread(count: u64, p50_ns: f64, p99_ns: f64) -> Spread {
    let (p50_ns, p99_ns) = (Some(p50_ns), Some(p99_ns));
    Spread { count, p50_ns, p99_ns, ..Spread::default() }
}

fn stage(name: &str, waiting: u64, p50_ns: f64, wave: f64) -> StageFrame {
    let hop = spread(100, p50_ns * wave, p50_ns * 2.5 * wave);
    StageFrame {
        name: name.to_owned(),
        channel: Some("events".to_owned()),
        is_required: true,
        reached: 4_000,
        reached_per_s: 99.0 * wave,
        waiting,
        hop,
        hop_so_far: hop,
        ..StageFrame::default()
    }
}

fn failure(name: &str) -> StageFrame {
    let waiting = 424;
    StageFrame { name: name.to_owned(), reached: 1, waiting, ..StageFrame::default() }
}

fn step(name: &str, failed: u64) -> StepFrame {
    let counted = |name: &str, count: u64| Counted { name: name.to_owned(), count };
    let errors = if failed > 0 { vec![counted("status 503", failed)] } else { Vec::new() };
    let mut statuses = vec![counted("202", 4_620 - failed)];
    statuses.extend((failed > 0).then(|| counted("503", failed)));
    StepFrame {
        name: name.to_owned(),
        requests: 4_620,
        requests_per_s: 110.0,
        response: spread(110, 12.3 * MS, 41.0 * MS),
        response_so_far: spread(4_620, 12.3 * MS, 41.0 * MS),
        statuses,
        errors,
        failed,
    }
}

fn threshold(text: &str, state: ThresholdState, measured_text: &str) -> ThresholdFrame {
    let measured_text = measured_text.to_owned();
    ThresholdFrame { text: text.to_owned(), state, measured: None, measured_text }
}

fn news(number: u64, second: u64, kind: NewsKind, text: &str, count: u64) -> News {
    let (at_ns, text) = (second * S, text.to_owned());
    News { number, at_ns, kind, journey: "payment".to_owned(), text, count }
}

/// Second `number` of a run of payments in which something is lost.
pub(crate) fn payments(number: u64) -> Frame {
    let wave = 1.0 + (number % 7) as f64 / 7.0;
    let counts = Counts {
        scheduled: 4_623,
        missed: 3,
        started: 4_620,
        completed: 4_171,
        late: 12,
        lost: 2,
        failed: 1,
        root_failed: 10,
        in_flight_at_cutoff: 0,
    };
    let mut refund = JourneyFrame { name: "refund".to_owned(), ..JourneyFrame::default() };
    refund.steps = vec![step("request", 0)];
    let payment = JourneyFrame {
        name: "payment".to_owned(),
        within_ns: Some(25 * S),
        counts,
        started_per_s: 110.0,
        completed_per_s: 97.0,
        in_flight: 424,
        duration: spread(97, 4.2e9, 10.1e9),
        duration_so_far: Spread { p99_ns: None, p99_is_lost: true, ..spread(97, 4.2e9, 0.0) },
        stages: vec![
            stage("created", 12, 44.0 * MS, wave),
            stage("settled", 400, 7.1e9, 1.0),
            stage("completed", 12, 310.0 * MS, 2.0 - wave / 2.0),
            failure("dead-letter"),
        ],
        steps: vec![step("submit", 10)],
        steps_beyond: 0,
    };
    Frame {
        number,
        name: "payments".to_owned(),
        stretch: FrameStretch::Steady,
        elapsed_ns: number * S,
        planned_ns: 90 * S,
        warmup_ns: 10 * S,
        asked_per_s: 110.0,
        delivered_per_s: 109.5,
        rate_factor: 1.1,
        counts,
        in_flight: 424,
        health: health(),
        journeys: vec![payment, refund],
        thresholds: vec![
            threshold("journey.payment.p99 < 25s", ThresholdState::Fails, "> 25.0 s (lost)"),
            threshold("lost == 0", ThresholdState::Fails, "2"),
            threshold("errors.rate < 1%", ThresholdState::Holds, "0.21 %"),
            threshold("drain < 30s", ThresholdState::NoneYet, "nothing yet"),
        ],
        news: vec![
            news(4, 31, NewsKind::Error, "submit: status 503", 10),
            news(5, 36, NewsKind::Failed, "reached dead-letter: amount refused", 1),
            news(6, 41, NewsKind::Lost, "settled was not seen after created", 2),
        ],
        news_beyond: 4,
        ..Frame::default()
    }
}

fn health() -> Health {
    let generator = ThreadUse { name: "generator 0".to_owned(), cpu: 0.31, waiting: Some(0.02) };
    Health {
        lag_p99_ns: Some(210_000),
        lag_p99_so_far_ns: Some(340_000),
        lag_max_ns: 10_000_000,
        threads: vec![generator],
        refused: 0,
        nearest: Some(Nearest { share: 0.35, text: "generator 0 33 % busy".to_owned() }),
        defects: Vec::new(),
    }
}

/// An attack on several targets, whose generator is the limit.
pub(crate) fn attack() -> Frame {
    let mut frame = payments(42);
    frame.name = "attack".to_owned();
    frame.planned_ns = 0;
    let steps = (0..30).map(|n| step(&format!("GET http://127.0.0.1:8080/item/{n}"), n % 2));
    let steps = steps.collect();
    frame.journeys =
        vec![JourneyFrame { name: "attack".to_owned(), steps, ..JourneyFrame::default() }];
    frame.thresholds.clear();
    frame.news.clear();
    frame.news_beyond = 0;
    frame.rate_factor = 1.0;
    frame.delivered_per_s = 80.0;
    frame.health.nearest =
        Some(Nearest { share: 1.04, text: "generator 0 99 % busy over 10 s".to_owned() });
    frame.health.defects = vec!["a tap fell silent".to_owned(), "generator saturated".to_owned()];
    frame
}
