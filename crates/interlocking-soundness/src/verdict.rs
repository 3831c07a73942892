//! The result of the check: the verdict, and each violation with the path to it.

use crate::trace::quoted;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether a graph is sound. A check has no fourth result, so a match may name all three.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// No run of the graph can break a rule.
    Sound {
        /// How many markings were visited; the reductions leave out those that cannot matter.
        markings: usize,
    },
    /// Some run breaks a rule.
    Unsound {
        /// The broken rules, once for each place where a rule is broken, those with the shortest paths first. The list
        /// is complete where the graph has no more than 5,000 markings, but has at most 50 violations each of cycles,
        /// of tokens and of shared workspaces.
        violations: Vec<Violation>,
    },
    /// The graph has more or larger markings than the check was allowed to visit, so the check has no result.
    Undecided {
        /// How many markings were allowed.
        limit: usize,
    },
}

/// A broken rule, and how a run reaches the violation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Violation {
    /// The rule, with the names it is about.
    #[serde(flatten)]
    pub rule: Rule,
    /// The node to look at first: where the graph most likely has to be changed.
    pub blame: String,
    /// The node executions that lead there, in order. The last of them breaks the rule, or nothing can run after it.
    /// Empty for rules about the table as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<Step>,
    /// Whether no shorter path breaks the same rule in the same place. Always true, unless the graph has more markings
    /// than the check may visit.
    pub shortest: bool,
    /// The places that hold a token at the end of the path, or before its last execution where that execution breaks
    /// the rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marking: Vec<String>,
    /// The path in words: `entry → types → {skeleton, adversary} → gate`. Empty without a path.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub trace: String,
    /// How to change the graph.
    pub remedy: String,
}

/// A rule of sound graphs that is broken. Places are spelled `node`, `join.slot` or `exit`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rule {
    /// A token arrives in a place that already holds one.
    DoubleToken {
        /// The node that sends it.
        from: String,
        /// Where it arrives.
        place: String,
    },
    /// A node goes to exit while branches are left running, or a join half filled.
    LiveAtExit {
        /// The node.
        from: String,
        /// The places that still hold a token.
        live: Vec<String>,
    },
    /// One join waits for ever: nothing else can run, and a slot has no value.
    StarvedJoin {
        /// The join.
        join: String,
        /// Its slots without a value.
        missing: Vec<String>,
    },
    /// Several joins wait, and nothing can run.
    Deadlock {
        /// The joins.
        joins: Vec<String>,
        /// Their slots without a value.
        missing: Vec<String>,
    },
    /// A cycle that no budget bounds.
    UnboundedCycle {
        /// Its nodes, in order, beginning with the first in the table.
        nodes: Vec<String>,
    },
    /// A node that no run ever executes.
    NeverRuns {
        /// The node.
        node: String,
    },
    /// Two nodes that are not exclusive can be at work at once in a workspace that both may change; or one node that
    /// works beside the graph can be at work in it several times at once.
    SharedWorkspace {
        /// The workspace.
        workspace: String,
        /// The nodes, in the order of the table.
        nodes: Vec<String>,
    },
    /// No run ever reaches the exit.
    ExitUnreachable,
    /// A run can reach a state from which the exit is unreachable although the run never stops: some cycle has no way
    /// out.
    NoWayOut {
        /// The nodes that then hold tokens.
        nodes: Vec<String>,
    },
}

/// One node execution of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Step {
    /// The node.
    pub node: String,
    /// The places that get a token: one for a goto, one per branch for a fork.
    pub to: Vec<String>,
    /// The optional slots among them that get no value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub none: Vec<String>,
    /// Whether it is the route of an exhausted budget.
    #[serde(default, skip_serializing_if = "is_false")]
    pub exhausted: bool,
    /// Whether it is the route of a timeout.
    #[serde(default, skip_serializing_if = "is_false")]
    pub timed_out: bool,
    /// Whether it is the route of a failure.
    #[serde(default, skip_serializing_if = "is_false")]
    pub failed: bool,
}

fn is(names: &[String]) -> &'static str {
    if names.len() == 1 { "is" } else { "are" }
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Violation {
    /// Whether this violation's path contains all steps of `other`'s path, and more: a fix of `other` then probably
    /// fixes this violation too.
    pub fn follows(&self, other: &Self) -> bool {
        // A shared workspace does not affect tokens.
        if matches!(other.rule, Rule::SharedWorkspace { .. }) {
            return false;
        }
        let mut rest: Vec<&Step> = self.path.iter().collect();
        let mut takes = |step: &Step| rest.iter().position(|one| *one == step).map(|at| rest.swap_remove(at)).is_some();
        !other.path.is_empty() && other.path.len() < self.path.len() && other.path.iter().all(&mut takes)
    }

    /// Whether the fix of `other` probably fixes this violation too: both are about surplus tokens and have the same
    /// remedy, both are about the same workspace and blame the same node, or both are cycles of the same event.
    pub fn has_remedy_of(&self, other: &Self) -> bool {
        if let (Rule::SharedWorkspace { workspace, .. }, Rule::SharedWorkspace { workspace: same, .. }) =
            (&self.rule, &other.rule)
        {
            return workspace == same && self.blame == other.blame;
        }
        if let (Rule::UnboundedCycle { .. }, Rule::UnboundedCycle { .. }) = (&self.rule, &other.rule) {
            // The remedy of other cycles names no node, and bounding one node of this cycle may leave the other.
            let names_the_event = self.remedy.contains(&format!("`{}`", self.blame));
            return names_the_event && self.blame == other.blame && self.remedy == other.remedy;
        }
        let too_many = |one: &Self| matches!(one.rule, Rule::DoubleToken { .. } | Rule::LiveAtExit { .. });
        too_many(self) && too_many(other) && self.remedy == other.remedy
    }
}

impl fmt::Display for Violation {
    /// The violation, the path to it, and the remedy.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.rule)?;
        if !self.trace.is_empty() {
            write!(f, "\nhelp: {}", self.trace)?;
        }
        if !self.shortest {
            f.write_str(" (there may be a shorter way)")?;
        }
        write!(f, "\nhelp: {}", self.remedy)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DoubleToken { from, place } => write!(f, "`{from}` can send a second token to `{place}`"),
            Self::LiveAtExit { from, live } => {
                write!(f, "`{from}` can go to exit while {} {} still live", quoted(live), is(live))
            }
            Self::StarvedJoin { join, .. } => write!(f, "join `{join}` can wait for ever"),
            Self::Deadlock { joins, .. } => write!(f, "joins {} can wait for ever", quoted(joins)),
            Self::UnboundedCycle { nodes } => match nodes.first() {
                Some(first) => {
                    write!(f, "the cycle {} → {first} has no budget: it can go on for ever", nodes.join(" → "))
                }
                None => f.write_str("a cycle has no budget"),
            },
            Self::NeverRuns { node } => write!(f, "node `{node}` can never run"),
            Self::SharedWorkspace { workspace, nodes } => match &nodes[..] {
                [one] => write!(
                    f,
                    "`{one}` can be at work in workspace `{workspace}` more than once at a time, and may change it"
                ),
                _ => write!(
                    f,
                    "{} can be at work in workspace `{workspace}` at once, and each may change it",
                    quoted(nodes)
                ),
            },
            Self::ExitUnreachable => f.write_str("no run can reach the exit"),
            Self::NoWayOut { nodes } => {
                let are = is(nodes);
                write!(f, "a run can go on for ever: only {} {are} live, and the exit is out of reach", quoted(nodes))
            }
        }
    }
}
