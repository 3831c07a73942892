//! Ending a run, and noting what came of its checks on the way.

use crate::graph::{Hybrid, hybrid};
use crate::types::{
    Check, HybridFailure, HybridMemory, HybridResult, Identifier, LatticeReport, NotAnIdentifier, StackSpec,
    VerificationStatus, WitnessReport,
};
use interlocking::graph::{Edge, Node, Remembers};
use interlocking::prelude::*;

/// A node of this graph that remembers, and may end the run.
pub(super) trait Ends:
    Node<Graph = Hybrid> + Remembers<Memory = HybridMemory> + Edge<hybrid::exit, To = hybrid::exit>
{
}

impl<N> Ends for N where
    N: Node<Graph = Hybrid> + Remembers<Memory = HybridMemory> + Edge<hybrid::exit, To = hybrid::exit>
{
}

/// Ends the run without success: a typed reason, and everything gathered so far (HY-258, CON-81).
pub(super) fn end<N: Ends>(cx: &Cx<'_, N>, failure: HybridFailure) -> Route<N> {
    let result = result_of(cx.entry()?, cx.memory(), Some(failure));
    cx.goto::<hybrid::exit>(result)
}

/// What a run has come to. Its cost, its account and whether `main` could be advanced are added by whoever ran it, who
/// alone knows them.
pub fn result_of(spec: &StackSpec, memory: HybridMemory, failure: Option<HybridFailure>) -> HybridResult {
    HybridResult {
        success: failure.is_none(),
        attempts: memory.fix_attempt,
        spec: memory.functions,
        tests_coverage: memory.coverage,
        understanding: memory.understanding,
        type_adversary: memory.type_adversary,
        mutation_adversary: None,
        witness: WitnessReport {
            observations: Vec::new(),
            narrative: String::new(),
            concerns: Vec::new(),
            suggestions: Vec::new(),
        },
        total_cost: interlocking::agents::Cost::ZERO,
        lattice: memory.lattice.unwrap_or_else(|| LatticeReport::new(spec.strictness)),
        failure,
    }
}

/// Notes what came of one of the nine checks.
pub(super) fn note_check<N>(cx: &mut Cx<'_, N>, check: Check, held: bool, detail: impl Into<String>)
where
    N: Node<Graph = Hybrid> + Remembers<Memory = HybridMemory>,
{
    let status = if held { VerificationStatus::Verified } else { VerificationStatus::NotVerified };
    let strictness = cx.entry().map(|spec| spec.strictness).unwrap_or_default();
    let detail = detail.into();
    cx.update_memory(move |memory| {
        let lattice = memory.lattice.get_or_insert_with(|| LatticeReport::new(strictness));
        lattice.record(check, status, detail.clone());
    });
}

/// A node's name, as commit trailers have it.
pub(super) fn node_name(name: &str) -> Result<Identifier, NotAnIdentifier> {
    Identifier::new(name)
}

/// The items in one line, or what to say when there are none.
pub(super) fn listed<T: ToString>(items: &[T], none: &str) -> String {
    if items.is_empty() {
        none.to_owned()
    } else {
        items.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    }
}
