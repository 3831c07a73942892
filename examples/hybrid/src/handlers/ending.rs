//! Ending a run, and recording the results of its checks.

use crate::graph::{Hybrid, hybrid};
use crate::language::Language;
use crate::types::{
    Check, CheckOutcome, HybridFailure, HybridMemory, HybridResult, Identifier, LatticeReport, MutationAdversary,
    NotAnIdentifier, StackSpec, Unchecked, Verdict, WitnessReport,
};
use interlocking::graph::{Edge, Node, Remembers};
use interlocking::prelude::*;

/// A node of this graph that has the run's memory, and may end the run.
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

/// The result of a run: a success if there is no failure and every blocking check holds. Findings beside the run, whether `main`
/// could be advanced, the account and what is left to do are added at the graph's exit; the caller that ran it adds the cost.
pub fn result_of(spec: &StackSpec, memory: HybridMemory, failure: Option<HybridFailure>) -> HybridResult {
    let lattice = LatticeReport::new(spec.strictness, &memory.checks);
    HybridResult {
        verdict: match failure {
            Some(failure) => Verdict::Failure { lattice, failure: Box::new(failure) },
            None => Verdict::of(lattice),
        },
        attempts: memory.fix_attempt,
        spec: memory.functions,
        tests_coverage: memory.coverage,
        understanding: memory.understanding,
        type_adversary: memory.type_adversary,
        mutation_adversary: memory.mutation_adversary.map_or(MutationAdversary::NotRun, MutationAdversary::Ran),
        ground_truth: memory.ground_truth,
        work_items: Vec::new(),
        merge_commit: memory.merge_commit,
        unchecked: Unchecked::of(Language::of_task(spec)),
        witness: WitnessReport::default(),
        total_cost: interlocking::agents::Cost::ZERO,
    }
}

/// Records the result of one of the nine checks; it replaces an earlier result, since checks are repeated in loops.
pub(super) fn note_check<N>(cx: &mut Cx<'_, N>, check: Check, held: bool, detail: impl Into<String>)
where
    N: Node<Graph = Hybrid> + Remembers<Memory = HybridMemory>,
{
    let outcome = CheckOutcome::new(held, detail);
    cx.update_memory(move |memory| _ = memory.checks.insert(check, outcome.clone()));
}

/// Discards the results of checks, because what they checked is replaced: until the checks are made again, they count as not
/// reached.
pub(super) fn forget_checks<N, const LENGTH: usize>(cx: &mut Cx<'_, N>, checks: [Check; LENGTH])
where
    N: Node<Graph = Hybrid> + Remembers<Memory = HybridMemory>,
{
    cx.update_memory(move |memory| memory.checks.retain(|check, _| !checks.contains(check)));
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
