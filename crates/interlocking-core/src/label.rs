//! What sort of message an outcome is. An operator can read it, and a journal keeps it, without looking into payloads.

use crate::graph::{Edge, Graph, Node};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What sort of message the tokens of an outcome are: the envelope of the payloads, as the journal and the events of
/// the run contain it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// The sort, in capitals: `BLOCKED_DEPENDENCY`.
    #[serde(rename = "type")]
    pub ty: String,
    /// How bad it is.
    pub severity: Severity,
    /// The place that it recommends to go to: a node, or `join.slot`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route_hint: Option<String>,
}

/// How bad a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Severity {
    /// All is well.
    Info,
    /// Something needs attention.
    Warn,
    /// Work cannot continue as planned.
    Blocker,
}

/// A closed set of labels: one for each variant of an enum with `#[derive(Labels)]`.
pub trait LabelType: Copy + Eq + Send + Sync + 'static {
    /// All of them, in the order of the variants.
    const ALL: &'static [Self];

    /// The name, in capitals: `BLOCKED_DEPENDENCY`.
    fn name(self) -> &'static str;

    /// How bad it is.
    fn severity(self) -> Severity;

    /// The place that it recommends to go to, as the table spells it.
    fn route_hint(self) -> Option<&'static str>;

    /// The label of that name, as a journal contains it.
    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|label| label.name() == name)
    }
}

/// A value that has a label at node `N`: the result of the node's agent or handler. `#[derive(Labels)]` writes the
/// impl.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no label at node `{N}`",
    label = "not labelled at this node",
    note = "derive it for an enum, `#[derive(Labels)]`; one with `#[labels(node = …)]` has labels at that node alone"
)]
pub trait Labelled<N> {
    /// The labels.
    type Type: LabelType;

    /// The label of this value.
    fn label_type(&self) -> Self::Type;
}

impl Label {
    /// The label of a value.
    pub fn of<N, T: Labelled<N>>(value: &T) -> Self {
        let label = value.label_type();
        Self {
            ty: label.name().to_owned(),
            severity: label.severity(),
            route_hint: label.route_hint().map(ToOwned::to_owned),
        }
    }
}

/// The place where the edge from `N` to `Target` ends, as the table spells it. For derived code.
pub fn route_hint<N: Edge<Target>, Target>() -> &'static str {
    let net = <N as Node>::Graph::net();
    let alternative = &net.alternatives()[usize::from(N::ALTERNATIVE)];
    alternative.branches.first().and_then(|branch| branch.first()).map_or("", |&place| &net.place(place).name)
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Blocker => "BLOCKER",
        })
    }
}

/// `BLOCKER BLOCKED_DEPENDENCY, hint scaffold`.
impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.severity, self.ty)?;
        self.route_hint.iter().try_for_each(|hint| write!(f, ", hint {hint}"))
    }
}
