//! Which reader takes which block of the guide: every one is read by what reads it in the product.
//!
//! The first kind of the table that a block is of has it. What only shows what a program prints or
//! how something is laid out is listed block by block, so that nothing is left unread unnoticed.

use super::{
    blocks::{Block, all},
    readers::{self, Desk},
};

/// A kind of blocks.
struct Kind {
    name: &'static str,
    /// Whether a block is of this kind.
    is_of: fn(&Block) -> bool,
    /// What reads it; errs in words.
    read: fn(&Desk, &Block) -> Result<(), String>,
    /// How many there are at least: a kind that finds nothing finds nothing wrong.
    least: usize,
}

const KINDS: [Kind; 13] = [
    Kind {
        name: "a shell's commands",
        is_of: |block| block.language == "sh",
        read: readers::shell,
        least: 40,
    },
    Kind {
        name: "a file for a CI server",
        is_of: |block| is_yaml(block) && block.page.starts_with("docs/ci/"),
        read: readers::foreign_yaml,
        least: 3,
    },
    Kind {
        name: "a kustomization",
        is_of: |block| is_yaml(block) && block.text.contains("\nkind: Kustomization\n"),
        read: readers::kustomization,
        least: 1,
    },
    Kind {
        name: "an object of Kubernetes",
        is_of: |block| is_yaml(block) && has_section(block, &["apiVersion"]),
        read: readers::kubernetes_object,
        least: 1,
    },
    Kind {
        name: "a mock file",
        is_of: |block| is_yaml(block) && has_section(block, &["routes"]),
        read: readers::mock,
        least: 2,
    },
    Kind {
        name: "a file of requirements",
        is_of: |block| is_yaml(block) && has_section(block, &["requirements"]),
        read: readers::requirements,
        least: 1,
    },
    Kind {
        name: "a journey file",
        is_of: |block| is_yaml(block) && has_section(block, &readers::journey_sections()),
        read: readers::journey_file,
        least: 50,
    },
    Kind {
        name: "a session script",
        is_of: |block| is_script(block) && block.text.contains("definition."),
        read: readers::session_script,
        least: 3,
    },
    Kind {
        name: "a k6 script",
        is_of: |block| is_script(block) && block.text.contains("import "),
        read: readers::k6_script,
        least: 3,
    },
    Kind {
        name: "a template",
        is_of: |block| block.language == "jinja",
        read: readers::template,
        least: 1,
    },
    Kind { name: "JSON", is_of: |block| block.language == "json", read: readers::json, least: 1 },
    Kind {
        name: "Python",
        is_of: |block| block.language == "python",
        read: readers::python,
        least: 1,
    },
    Kind {
        name: "what is only shown",
        is_of: |block| ["text", "hcl"].contains(&&*block.language) && is_shown(block),
        read: |_, _| Ok(()),
        least: SHOWN.len(),
    },
];

/// Blocks of text that nobody reads, by their page and how they begin: what this program prints,
/// but for those that say otherwise.
const SHOWN: [(&str, &str); 23] = [
    ("README.md", "JOURNEY payment\n"),
    ("README.md", "200/s ± 2.5 %: "),
    // Its commands are read with those of shells.
    ("docs/audit.md", "$ sojourn demo "),
    ("docs/capacity.md", "payments  ✓ CAPACITY\n"),
    ("docs/compare.md", "✗ worse: "),
    ("docs/doctor.md", "✓ plan "),
    // Its own server, which tests do not have.
    ("docs/event-queues.md", "inngest dev "),
    // Nothing here reads HCL.
    ("docs/fleet.md", "job \"load\" {\n"),
    // Compared with what the reader says.
    ("docs/journey-files.md", "error: payments.yaml:"),
    ("docs/k6.md", "  █ SOJOURN\n"),
    ("docs/k6.md", "✓ k6/execution  vu.idInTest\n"),
    ("docs/live.md", "charges steady "),
    ("docs/mock.md", "server-timing: "),
    ("docs/outputs.md", "output    prometheus-rw="),
    // Tags of histogram logs.
    ("docs/reports.md", "Tag=stage.hop;"),
    // Compared with what the template makes, by the reports' own tests.
    ("docs/reports.md", "payments: FAIL\n"),
    // The layout of the run file.
    ("docs/run-file.md", "\"SOJOURN\" version:u8"),
    ("docs/session-dsl.md", "── session television"),
    ("docs/session-dsl.md", "     1.235 s  television"),
    ("docs/session-dsl.md", "✓ test.completed: "),
    ("docs/session-dsl.md", "TRAFFIC\n"),
    // A drawing, and a formula.
    ("docs/theory.md", "t0 scheduled "),
    ("docs/theory.md", "in flight = rate × time\n"),
];

fn is_yaml(block: &Block) -> bool {
    matches!(block.language.as_str(), "yaml" | "yml")
}

fn is_script(block: &Block) -> bool {
    matches!(block.language.as_str(), "js" | "javascript" | "ts" | "typescript")
}

/// Whether one of these stands at the top of a YAML file.
fn has_section(block: &Block, sections: &[impl AsRef<str>]) -> bool {
    let mut top = block.text.lines().filter_map(|line| line.split_once(':'));
    top.any(|(word, _)| sections.iter().any(|section| section.as_ref() == word))
}

fn is_shown(block: &Block) -> bool {
    SHOWN.iter().any(|(page, begins)| block.page == *page && block.text.starts_with(begins))
}

#[test]
fn every_block_of_the_guide_is_read_by_what_reads_it() {
    let desk = Desk::new();
    let mut counts = [0; KINDS.len()];
    let mut all_wrong = Vec::new();
    for block in all() {
        let place = block.place();
        let Some(at) = KINDS.iter().position(|kind| (kind.is_of)(&block)) else {
            let begins = block.text.lines().next().unwrap_or_default();
            all_wrong.push(format!(
                "{place}: `{}` is of no kind that is known here: {begins}",
                block.language
            ));
            continue;
        };
        counts[at] += 1;
        if let Err(why) = (KINDS[at].read)(&desk, &block) {
            all_wrong.push(format!("{place}, {}:\n{}", KINDS[at].name, why.trim_end()));
        }
    }
    for (kind, count) in KINDS.iter().zip(counts) {
        if count < kind.least {
            let (name, least) = (kind.name, kind.least);
            all_wrong.push(format!("{name}: {count} blocks found instead of {least} at least"));
        }
    }
    assert!(all_wrong.is_empty(), "{}", all_wrong.join("\n\n"));
}
