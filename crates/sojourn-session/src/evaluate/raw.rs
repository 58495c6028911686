//! What the prelude hands over when the script has run: JSON, in the prelude's words. `at` is the
//! number of a place.

use serde::Deserialize;

use crate::compare::Comparison;
use crate::generator::Generator;

#[derive(Debug, Deserialize)]
pub(super) struct Raw {
    pub(super) targets: Vec<RawTarget>,
    pub(super) phases: Vec<RawPhase>,
    pub(super) options: Option<RawOptions>,
    pub(super) sessions: Vec<RawSession>,
    pub(super) mix: Option<RawMix>,
    pub(super) channels: Vec<RawDeclared>,
    pub(super) stages: Vec<RawDeclared>,
    pub(super) placeholders: Vec<RawPlaceholder>,
    pub(super) generators: Vec<Generator>,
    pub(super) sources: Vec<RawSource>,
    pub(super) picks: Vec<RawPick>,
    pub(super) warnings: Vec<RawWarning>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawTarget {
    pub(super) url: String,
    pub(super) at: usize,
}

/// A channel or a stage.
#[derive(Debug, Deserialize)]
pub(super) struct RawDeclared {
    pub(super) name: String,
    pub(super) json: String,
    pub(super) at: usize,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawPhase {
    pub(super) duration: f64,
    pub(super) rate: f64,
    pub(super) clients_max: Option<u32>,
    pub(super) name: Option<String>,
    pub(super) weights: Option<Vec<(String, f64)>>,
    pub(super) at: usize,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawOptions {
    pub(super) sizing: Option<String>,
    pub(super) region: Option<String>,
    pub(super) engine: Option<String>,
    pub(super) exclude_tags: Vec<String>,
    pub(super) cookies: bool,
    pub(super) at: usize,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawSession {
    pub(super) name: String,
    pub(super) steps: Vec<RawStep>,
    pub(super) at: usize,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum MixKind {
    Weights,
    Probabilities,
}

impl MixKind {
    /// Shares of so many sessions before any is given.
    pub(super) fn base(self, sessions: usize) -> Vec<f64> {
        match self {
            Self::Weights => vec![1.0; sessions],
            Self::Probabilities => vec![0.0; sessions],
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct RawMix {
    pub(super) kind: MixKind,
    pub(super) shares: Vec<(String, f64)>,
    pub(super) at: usize,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum RawPlaceholderKind {
    Variable { name: String },
    Generated { generator: u32 },
    Cell { pick: u32, column: Option<usize>, name: Option<String> },
    Status,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawPlaceholder {
    #[serde(flatten)]
    pub(super) kind: RawPlaceholderKind,
    pub(super) at: usize,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum RawSource {
    Structured {
        path: String,
        delimiter: Option<String>,
        has_header: bool,
        fields: Vec<String>,
        at: usize,
    },
    Raw {
        path: String,
        at: usize,
    },
}

#[derive(Debug, Deserialize)]
pub(super) struct RawPick {
    pub(super) source: u32,
    pub(super) session: u32,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawWarning {
    pub(super) message: String,
    pub(super) hint: Option<String>,
    pub(super) at: usize,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawStep {
    #[serde(flatten)]
    pub(super) action: RawAction,
    pub(super) at: usize,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum RawAction {
    Request(Box<RawRequest>),
    Wait { seconds: String },
    WaitUniform { low: String, high: String },
    WaitExp { mean: String },
    Times { count: String, steps: Vec<RawStep> },
    If { condition: RawCondition, steps: Vec<RawStep>, otherwise: Option<Vec<RawStep>> },
    While { condition: RawCondition, steps: Vec<RawStep> },
    ForEver { steps: Vec<RawStep> },
    ForEach { item: String, list: Option<String>, items: Vec<String>, steps: Vec<RawStep> },
    Check { name: String, condition: RawCondition },
    Assert { name: String, condition: RawCondition },
    Set { name: String, value: String },
    Pick { pick: u32 },
    Log { message: String },
    Publish(Box<RawPublish>),
    Expect(Box<RawExpect>),
    Abort {},
}

#[derive(Debug, Deserialize)]
pub(super) struct RawRequest {
    pub(super) verb: String,
    pub(super) url: String,
    pub(super) tag: Option<String>,
    pub(super) params: Vec<(String, String)>,
    pub(super) payload: Option<RawPayload>,
    pub(super) file: Option<u32>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) gzip: bool,
    pub(super) extraction: Vec<RawExtraction>,
    pub(super) authentication: Option<(String, String)>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RawPayload {
    Text(String),
    Form(Vec<(String, String)>),
}

#[derive(Debug, Deserialize)]
pub(super) struct RawExtraction {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) expression: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawCondition {
    pub(super) left: String,
    pub(super) compare: Comparison,
    pub(super) right: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawPublish {
    pub(super) channel: String,
    pub(super) payload: String,
    pub(super) key: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) tag: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawExpect {
    pub(super) stage: String,
    pub(super) key: String,
    pub(super) within: f64,
    pub(super) count: u16,
    pub(super) is_required: bool,
    pub(super) extraction: Vec<RawExtraction>,
    pub(super) tag: Option<String>,
}
