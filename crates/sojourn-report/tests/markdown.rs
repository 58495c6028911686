//! Markdown, read by a parser of GitHub Flavored Markdown: what is printed is what was meant,
//! whatever names contain.

use std::sync::LazyLock;

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use sojourn_report::{ReportModel, render};

use crate::{payments, text::check};

#[test]
fn a_payments_run() {
    check("payments.md", &render::markdown(&payments::model()));
}

#[test]
fn an_empty_run_that_was_cut_off() {
    check("empty.md", &render::markdown(&payments::empty()));
}

/// What a reader sees: tables as rows of cells' texts, and whatever else is no plain text.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    tables: Vec<Vec<Vec<String>>>,
    headings: Vec<String>,
    items: usize,
    /// Elements that nothing of ours makes: links, images, emphasis, code spans, quotes.
    strange: Vec<String>,
    /// HTML that is there: `<code>`, `<details>`.
    html: Vec<String>,
}

fn read(markdown: &str) -> Seen {
    let mut seen = Seen::default();
    let mut text: Option<String> = None;
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Start(Tag::Table(_)) => seen.tables.push(Vec::new()),
            Event::Start(Tag::TableHead | Tag::TableRow) => {
                seen.tables.last_mut().unwrap().push(Vec::new());
            }
            Event::Start(Tag::TableCell | Tag::Heading { .. }) => text = Some(String::new()),
            Event::End(TagEnd::TableCell) => {
                let row = seen.tables.last_mut().unwrap().last_mut().unwrap();
                row.push(text.take().unwrap());
            }
            Event::End(TagEnd::Heading(_)) => seen.headings.push(text.take().unwrap()),
            Event::Start(Tag::Item) => seen.items += 1,
            Event::Start(
                tag @ (Tag::Link { .. }
                | Tag::Image { .. }
                | Tag::BlockQuote(_)
                | Tag::Emphasis
                | Tag::Strikethrough
                | Tag::FootnoteDefinition(_)),
            ) => seen.strange.push(format!("{tag:?}")),
            Event::Code(code) => seen.strange.push(format!("code {code}")),
            Event::Html(html) | Event::InlineHtml(html) => seen.html.push(html.trim().to_owned()),
            Event::Text(said) => {
                if let Some(text) = &mut text {
                    text.push_str(&said);
                }
            }
            _ => {}
        }
    }
    seen
}

/// A name as it is shown: on one line, without control characters.
fn shown(name: &str) -> String {
    let is_space = |c: char| matches!(c, '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}');
    let line: String = name.chars().map(|c| if is_space(c) { ' ' } else { c }).collect();
    let line: String = line
        .trim()
        .chars()
        .map(|c| {
            let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            if c.is_control() || turns { '\u{fffd}' } else { c }
        })
        .collect();
    if line.is_empty() { "–".into() } else { line }
}

/// The payments run, simulated once.
static PAYMENTS: LazyLock<ReportModel> = LazyLock::new(payments::model);

/// The payments run with foreign words wherever there can be any.
fn named(name: &str) -> ReportModel {
    let mut model = PAYMENTS.clone();
    model.identity.name = name.into();
    model.identity.labels = vec![("git".into(), name.into())];
    model.identity.plan = format!("name: x\n{name}\n```\n");
    model.verdict.causes[0].detail = name.into();
    model.ledger.journeys[0].name = name.into();
    model.ledger.events[0].channel = name.into();
    model.journeys[0].name = name.into();
    model.journeys[0].stages[1].name = name.into();
    model.journeys[0].steps[0].name = name.into();
    model.journeys[0].kept[2].key = Some(name.into());
    model.journeys[0].kept[2].reason = Some(name.into());
    model.thresholds[0].text = name.into();
    model.thresholds[0].measured_text = name.into();
    model.requirements[0].text = name.into();
    model.backlogs[0].of = name.into();
    model.resources[0].name = name.into();
    model.conclusions[0].text = name.into();
    model.conclusions[0].journey = name.into();
    model.notes[0] = name.into();
    model
}

/// The same with a plain name, read.
static PLAIN: LazyLock<Seen> = LazyLock::new(|| read(&render::markdown(&named("plain"))));

fn hold(name: &str) -> Result<(), TestCaseError> {
    let plain = &*PLAIN;
    let seen = read(&render::markdown(&named(name)));
    prop_assert_eq!(&seen.strange, &Vec::<String>::new(), "for {:?}", name);
    prop_assert_eq!(seen.items, plain.items, "for {:?}", name);
    prop_assert_eq!(&seen.html, &plain.html, "for {:?}", name);
    prop_assert_eq!(seen.tables.len(), plain.tables.len());
    for (table, same) in seen.tables.iter().zip(&plain.tables) {
        prop_assert_eq!(table.len(), same.len(), "for {:?}", name);
        for (row, same) in table.iter().zip(same) {
            prop_assert_eq!(row.len(), same.len(), "for {:?}", name);
            for (cell, same) in row.iter().zip(same) {
                if !same.contains("plain") {
                    prop_assert_eq!(cell, same);
                } else if same == "plain" {
                    // A mention is broken by a character of no width, outside of code.
                    prop_assert_eq!(
                        cell.replace('\u{200b}', ""),
                        shown(name).replace('\u{200b}', "")
                    );
                }
            }
        }
    }
    Ok(())
}

#[test]
fn names_that_are_markdown_or_html_are_shown_as_they_are() {
    for name in [
        "a|b",
        "`a`|`b`",
        "\\|",
        "\\\\|`",
        "**bold** _it_ ~~gone~~",
        "<script>alert(1)</script>",
        "<!-- -->",
        "</details>",
        "[x](http://127.0.0.1) ![y](z)",
        "<http://127.0.0.1>",
        "&lt;&#124;&amp;",
        "# heading",
        "1. one",
        "12) twelve",
        "- item",
        "+ item",
        "> quote",
        "---",
        "===",
        "@octocat #1 $x$",
        "two\nlines | and\r\nthree",
        "```\nfence\n```",
        "\u{1b}[2J\u{202e}x",
        "    indented",
        "😀 – ü",
    ] {
        hold(name).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whatever_names_contain(name in r"[ -~\n\tü😀\u{1b}\u{202e}|`<>\\*_\[\]&]{1,24}") {
        prop_assume!(shown(&name) != "–");
        hold(&name)?;
    }
}

#[test]
fn every_threshold_and_requirement_stands_with_its_measured_value() {
    let model = payments::model();
    let seen = read(&render::markdown(&model));
    let cells: Vec<&String> = seen.tables.iter().flatten().flatten().collect();
    for row in &model.thresholds {
        assert!(cells.contains(&&row.text) && cells.contains(&&row.measured_text), "{row:?}");
    }
    assert!(cells.iter().any(|cell| cell.ends_with("): 812.25 ms, wanted < 800")), "{cells:?}");
    let journeys = &seen.tables[0];
    assert_eq!(
        journeys[1],
        ["payment", "3,000", "2,996", "0", "4", "0", "0", "0", "22.5 s", "25.0 s"]
    );
}

#[test]
fn lists_and_the_plan_have_an_end() {
    let mut model = payments::model();
    let note = model.notes[0].clone();
    model.notes = vec![note; 5_000];
    let stage = model.journeys[0].stages[0].clone();
    model.journeys[0].stages = vec![stage; 5_000];
    model.identity.plan = "x: yyyyyyyyyyyyyyy\n".repeat(10_000);
    let markdown = render::markdown(&model);
    assert!(markdown.len() < 65_000, "{} bytes", markdown.len());
    assert!(markdown.contains("4,900 more are in the HTML and JSON reports."));
}

#[test]
fn it_fits_into_a_comment_however_much_there_is() {
    let mut model = payments::model();
    model.identity.plan = "x: \"`|<>&*_\"\n".repeat(3_000);
    let kept = model.journeys[0].kept[0].clone();
    model.journeys[0].kept = vec![kept; 5_000];
    model.notes = (0..5_000).map(|n| format!("note {n} {}", "w".repeat(1_000))).collect();
    let steps = model.journeys[0].steps.clone();
    model.journeys[0].steps = steps.into_iter().cycle().take(2_000).collect();
    let text = render::markdown(&model);
    assert!(text.chars().count() < 65_536, "{}", text.chars().count());
    assert!(text.contains("Too long for a comment"), "{}", &text[text.len() - 500..]);
}
