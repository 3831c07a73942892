//! The content of `#[node(…)]`.

use interlocking_core::table::Isolation;
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::{Ident, Type};

/// The content of `#[node(…)]`.
#[derive(Default)]
pub(crate) struct Attributes {
    pub(crate) entry: Option<Ident>,
    pub(crate) input: Option<Given<Type>>,
    pub(crate) slots: Option<Given<Vec<Slot>>>,
    pub(crate) goto: Vec<Given<Group>>,
    pub(crate) fork: Option<Given<Fork>>,
    pub(crate) exhausted: Option<Given<Group>>,
    pub(crate) visits: Option<Given<Visits>>,
    pub(crate) attempts: Option<Given<u32>>,
    pub(crate) timeout: Option<Given<u64>>,
    pub(crate) timed_out: Option<Given<Group>>,
    pub(crate) failed: Option<Given<Group>>,
    pub(crate) exclusive: Option<Given<String>>,
    pub(crate) agent: Option<Given<String>>,
    pub(crate) model: Option<Given<String>>,
    pub(crate) workspace: Option<Given<String>>,
    pub(crate) read_only: Option<Ident>,
    pub(crate) isolation: Option<Given<Isolation>>,
    pub(crate) blind_to: Option<Given<Vec<Ident>>>,
    pub(crate) prompt: Option<Given<Type>>,
    pub(crate) output: Option<Given<Type>>,
    pub(crate) memory: Option<Given<Memory>>,
    pub(crate) map: Option<Given<Type>>,
    pub(crate) concurrency: Option<Given<u32>>,
    pub(crate) depth: Option<Given<u32>>,
    /// Whether a map adopts children of earlier entries.
    pub(crate) adopt: Option<Ident>,
    pub(crate) graph: Option<Given<Type>>,
    pub(crate) quorum: Option<Given<Quorum>>,
    /// The region that a join clears at its quorum.
    pub(crate) cancels: Option<Given<Vec<Cancel>>>,
    /// The maps to which an event node may add items.
    pub(crate) adds_to: Option<Given<Vec<Ident>>>,
    pub(crate) question: Option<Given<Type>>,
    pub(crate) answer: Option<Given<Type>>,
    pub(crate) report: Option<Given<Type>>,
    pub(crate) reports_to: Option<Given<Vec<Ident>>>,
    pub(crate) spawn: Option<Given<Vec<Ident>>>,
    pub(crate) observes: Option<Given<Vec<Ident>>>,
    /// The message that an event node handles.
    pub(crate) on: Option<Given<Type>>,
    pub(crate) resume: Option<Ident>,
    pub(crate) transient: Option<Ident>,
}

/// A value and the key it was given for.
pub(crate) struct Given<T> {
    pub(crate) key: Ident,
    /// Where the value stands.
    pub(crate) at: Span,
    pub(crate) value: T,
}

/// One slot of a join.
pub(crate) struct Slot {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    /// The nodes of `from(…)`, or the node that the slot is named after.
    pub(crate) sources: Vec<Ident>,
    /// Whether there is no `from(…)`.
    pub(crate) named_after_source: bool,
    pub(crate) latched: Option<Ident>,
    pub(crate) optional: Option<Ident>,
}

/// Targets that share a `cancels(…)`. A target with a budget is alone in its group.
#[derive(Default)]
pub(crate) struct Group {
    pub(crate) targets: Vec<Target>,
    pub(crate) times: Option<Given<u32>>,
    /// Where a run goes once the budget is exhausted.
    pub(crate) exhausted: Option<Box<Given<Self>>>,
    pub(crate) cancels: Vec<Cancel>,
}

/// All branches of a fork, each with the targets among which it chooses.
pub(crate) struct Fork {
    pub(crate) branches: Vec<Vec<Target>>,
    pub(crate) cancels: Vec<Cancel>,
}

/// `node`, `join`, `join.slot` or `exit`.
pub(crate) struct Target {
    pub(crate) node: Ident,
    pub(crate) slot: Option<Ident>,
}

/// One name in `cancels(…)`.
pub(crate) enum Cancel {
    Everything(Span),
    Named(Target),
}

/// A bound on entries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visits {
    AtMost(u32),
    Unbounded,
}

/// When a node stops waiting for the rest of its children or slots.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quorum {
    AtLeast(u32),
    Enough,
}

/// A memory and the group that shares it; without a group it is the node's own.
pub(crate) struct Memory {
    pub(crate) group: Option<Ident>,
    pub(crate) ty: Type,
}

impl Attributes {
    /// The keys of all attributes that are given.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Ident> {
        fn key<T>(given: &Option<Given<T>>) -> Option<&Ident> {
            given.as_ref().map(|given| &given.key)
        }
        let one = [
            key(&self.slots),
            key(&self.input),
            key(&self.on),
            key(&self.map),
            key(&self.concurrency),
            key(&self.depth),
            self.adopt.as_ref(),
            key(&self.graph),
            key(&self.quorum),
            key(&self.cancels),
            key(&self.adds_to),
            key(&self.question),
            key(&self.answer),
            key(&self.observes),
            self.resume.as_ref(),
            self.transient.as_ref(),
            key(&self.fork),
            key(&self.spawn),
            key(&self.exhausted),
            key(&self.visits),
            key(&self.attempts),
            key(&self.timeout),
            key(&self.timed_out),
            key(&self.failed),
            key(&self.exclusive),
            key(&self.prompt),
            key(&self.output),
            key(&self.agent),
            key(&self.model),
            key(&self.workspace),
            self.read_only.as_ref(),
            key(&self.isolation),
            key(&self.blind_to),
            key(&self.memory),
            key(&self.report),
            key(&self.reports_to),
        ];
        self.goto.iter().map(|group| &group.key).chain(one.into_iter().flatten())
    }
}

impl Slot {
    /// The name without `r#`.
    pub(crate) fn name(&self) -> String {
        self.name.unraw().to_string()
    }
}

impl Target {
    /// As it is spelled in the table.
    pub(crate) fn spelled(&self) -> String {
        match &self.slot {
            Some(slot) => format!("{}.{}", self.node.unraw(), slot.unraw()),
            None => self.node.unraw().to_string(),
        }
    }
}

impl Cancel {
    /// Where it stands.
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Everything(span) => *span,
            Self::Named(target) => target.node.span(),
        }
    }

    /// As it is spelled in the table.
    pub(crate) fn spelled(&self) -> String {
        match self {
            Self::Everything(_) => "*".to_owned(),
            Self::Named(target) => target.spelled(),
        }
    }
}
