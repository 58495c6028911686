//! No frame and no size makes it panic, or draw outside its area.

use std::sync::Arc;

use proptest::prelude::*;
use ratatui::{
    buffer::{Buffer, Cell},
    layout::Rect,
};
use sojourn_live::frame::*;
use sojourn_terminal::{Asked, View, draw};

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[a-z/ ]{1,12}",
        "\\PC{0,300}",
        Just("支払い完了のお知らせ".to_owned()),
        Just("a\u{1b}[2J\n\tb\u{301}👩‍👩‍👧".to_owned()),
    ]
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0..5u64, 0..1_000_000u64, Just(u64::MAX)]
}

fn real() -> impl Strategy<Value = f64> {
    prop_oneof![
        0.0..1e6,
        -1e12..1e12,
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(f64::MAX)
    ]
}

fn spread() -> impl Strategy<Value = Spread> {
    (number(), prop::option::of(real()), prop::option::of(real()), any::<bool>()).prop_map(
        |(count, p50_ns, p99_ns, is_lost)| Spread {
            count,
            p50_ns,
            p99_ns,
            p50_is_lost: is_lost,
            p99_is_lost: is_lost,
        },
    )
}

fn stage() -> impl Strategy<Value = StageFrame> {
    (name(), number(), real(), spread()).prop_map(|(name, waiting, reached_per_s, hop)| {
        StageFrame { name, waiting, reached_per_s, hop, ..StageFrame::default() }
    })
}

fn step() -> impl Strategy<Value = StepFrame> {
    let counted = (name(), number()).prop_map(|(name, count)| Counted { name, count });
    let counted = prop::collection::vec(counted, 0..4);
    (name(), real(), spread(), counted, number()).prop_map(
        |(name, requests_per_s, response, statuses, failed)| StepFrame {
            name,
            requests_per_s,
            response,
            statuses,
            failed,
            ..StepFrame::default()
        },
    )
}

fn journey() -> impl Strategy<Value = JourneyFrame> {
    let stages = prop::collection::vec(stage(), 0..12);
    let steps = prop::collection::vec(step(), 0..12);
    (name(), number(), spread(), stages, steps).prop_map(
        |(name, in_flight, duration_so_far, stages, steps)| JourneyFrame {
            name,
            in_flight,
            duration_so_far,
            stages,
            steps,
            ..JourneyFrame::default()
        },
    )
}

fn threshold() -> impl Strategy<Value = ThresholdFrame> {
    let states = [ThresholdState::NoneYet, ThresholdState::Holds, ThresholdState::Fails];
    (name(), name(), 0..3usize).prop_map(move |(text, measured_text, state)| ThresholdFrame {
        text,
        measured_text,
        state: states[state],
        measured: None,
    })
}

fn news() -> impl Strategy<Value = News> {
    let kinds = [NewsKind::Error, NewsKind::Lost, NewsKind::Check, NewsKind::Defect];
    (number(), 0..4usize, name(), number()).prop_map(move |(at_ns, kind, text, count)| News {
        at_ns,
        kind: kinds[kind],
        text,
        count,
        ..News::default()
    })
}

fn frame() -> impl Strategy<Value = Frame> {
    let lists = (
        prop::collection::vec(journey(), 0..4),
        prop::collection::vec(threshold(), 0..12),
        prop::collection::vec(news(), 0..30),
        prop::collection::vec(name(), 0..3),
    );
    let stretches = [FrameStretch::Preparing, FrameStretch::Steady, FrameStretch::Over];
    let figures = (number(), number(), real(), real(), 0..3usize, prop::option::of(real()));
    (name(), lists, figures).prop_map(
        move |(name, (journeys, thresholds, news, defects), figures)| {
            let (elapsed_ns, planned_ns, asked_per_s, rate_factor, stretch, clients) = figures;
            let nearest = Some(Nearest { share: asked_per_s, text: name.clone() });
            Frame {
                name,
                stretch: stretches[stretch],
                elapsed_ns,
                planned_ns,
                asked_per_s,
                rate_factor,
                clients,
                health: Health { defects, nearest, ..Health::default() },
                journeys,
                thresholds,
                news,
                news_beyond: elapsed_ns,
                ..Frame::default()
            }
        },
    )
}

fn keys() -> impl Strategy<Value = Vec<Asked>> {
    use Asked::{Help, NextJourney, Pause, PreviousJourney};
    let keys = [Pause, NextJourney, PreviousJourney, Help];
    prop::collection::vec((0..4usize).prop_map(move |key| keys[key]), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_frame_fits_every_size(
        frames in prop::collection::vec(frame(), 1..3),
        keys in keys(),
        (width, height) in prop_oneof![(1..12u16, 1..12u16), (1..260u16, 1..70u16)],
        has_notice: bool,
    ) {
        let mut view = View::new("run", true);
        for frame in frames {
            view.take(Arc::new(frame));
            keys.iter().for_each(|&key| assert!(view.on(key)));
        }
        if has_notice {
            view.say("stopping\n");
        }
        // A rim that must stay as it is.
        let whole = Rect::new(0, 0, width + 4, height + 4);
        let inner = Rect::new(2, 2, width, height);
        let mut buf = Buffer::filled(whole, Cell::new("~"));
        draw(&view, inner, &mut buf);
        for position in whole.positions().filter(|position| !inner.contains(*position)) {
            prop_assert_eq!(buf[position].symbol(), "~", "at {:?}", position);
        }
    }
}
