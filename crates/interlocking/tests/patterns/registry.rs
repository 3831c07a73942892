//! All 43 patterns: the verdict on each, and the table and test that show it.

use Judged::{No, Partly, Yes};

/// How far a graph can express a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Judged {
    /// The table expresses the pattern, and a run does all that the pattern means.
    Yes,
    /// With a restriction, which the page names.
    Partly,
    /// A table that would express it is refused.
    No,
}

/// One pattern.
pub(crate) struct Pattern {
    pub(crate) number: usize,
    pub(crate) name: &'static str,
    pub(crate) judged: Judged,
    /// The module and the graph in it, such as `basic::Sequence`, or the refused table.
    pub(crate) table: &'static str,
    /// The test in that module that runs the graph, or [`REFUSED`].
    pub(crate) test: &'static str,
}

/// The test of all refused patterns.
pub(crate) const REFUSED: &str = "each_is_refused_in_its_words";

type Name = &'static str;

const fn yes(number: usize, name: Name, table: Name, test: Name) -> Pattern {
    Pattern { number, name, judged: Yes, table, test }
}

const fn partly(number: usize, name: Name, table: Name, test: Name) -> Pattern {
    Pattern { number, name, judged: Partly, table, test }
}

const fn refused(number: usize, name: Name, table: Name) -> Pattern {
    Pattern { number, name, judged: No, table, test: REFUSED }
}

/// The patterns in the order of the report.
#[rustfmt::skip]
pub(crate) const PATTERNS: [Pattern; 43] = [
    yes(1, "Sequence", "basic::Sequence", "sequence"),
    yes(2, "Parallel Split", "basic::Synchronization", "parallel_split_and_synchronization"),
    yes(3, "Synchronization", "basic::Synchronization", "parallel_split_and_synchronization"),
    yes(4, "Exclusive Choice", "basic::ExclusiveChoice", "exclusive_choice_and_simple_merge"),
    yes(5, "Simple Merge", "basic::ExclusiveChoice", "exclusive_choice_and_simple_merge"),
    yes(6, "Multi-Choice", "branching::MultiChoice", "multi_choice_and_structured_synchronizing_merge"),
    yes(7, "Structured Synchronizing Merge", "branching::MultiChoice", "multi_choice_and_structured_synchronizing_merge"),
    partly(8, "Multi-Merge", "branching::MultiMerge", "multi_merge"),
    partly(9, "Structured Discriminator", "discriminator::Discriminator", "structured_discriminator"),
    yes(10, "Arbitrary Cycles", "iteration::ArbitraryCycles", "arbitrary_cycles"),
    refused(11, "Implicit Termination", "11-implicit-termination"),
    yes(12, "Multiple Instances without Synchronization", "instances::Unsynchronized", "instances_without_synchronization"),
    yes(13, "Multiple Instances with a Priori Design-Time Knowledge", "instances::Instances", "instances_known_in_the_design"),
    yes(14, "Multiple Instances with a Priori Run-Time Knowledge", "instances::Instances", "instances_known_when_they_start"),
    yes(15, "Multiple Instances without a Priori Run-Time Knowledge", "instances::MoreInstances", "instances_added_while_they_run"),
    yes(16, "Deferred Choice", "state::DeferredChoice", "deferred_choice"),
    yes(17, "Interleaved Parallel Routing", "state::InterleavedParallel", "interleaved_parallel_routing"),
    yes(18, "Milestone", "state::Milestone", "milestone"),
    yes(19, "Cancel Task", "cancellation::CancelTask", "cancel_task"),
    yes(20, "Cancel Case", "cancellation::ExplicitTermination", "cancel_case"),
    yes(21, "Structured Loop", "iteration::WhileLoop", "structured_loop"),
    yes(22, "Recursion", "iteration::Recursion", "recursion"),
    yes(23, "Transient Trigger", "trigger::TransientTrigger", "transient_trigger"),
    yes(24, "Persistent Trigger", "trigger::PersistentTrigger", "persistent_trigger"),
    yes(25, "Cancel Region", "cancellation::CancelRegion", "cancel_region"),
    yes(26, "Cancel Multiple Instance Activity", "instances::CancelInstances", "cancel_instances"),
    yes(27, "Complete Multiple Instance Activity", "partial::CompleteInstances", "complete_instances"),
    refused(28, "Blocking Discriminator", "28-blocking-discriminator"),
    yes(29, "Cancelling Discriminator", "discriminator::CancellingDiscriminator", "cancelling_discriminator"),
    partly(30, "Structured Partial Join", "discriminator::Discriminator", "structured_partial_join"),
    refused(31, "Blocking Partial Join", "31-blocking-partial-join"),
    yes(32, "Cancelling Partial Join", "discriminator::CancellingPartialJoin", "cancelling_partial_join"),
    refused(33, "Generalized AND-Join", "33-generalized-and-join"),
    partly(34, "Static Partial Join for Multiple Instances", "partial::PartialJoin", "cancelling_partial_join_of_instances"),
    yes(35, "Cancelling Partial Join for Multiple Instances", "partial::PartialJoin", "cancelling_partial_join_of_instances"),
    yes(36, "Dynamic Partial Join for Multiple Instances", "partial::DynamicPartialJoin", "dynamic_partial_join_of_instances"),
    yes(37, "Acyclic Synchronizing Merge", "branching::AcyclicSynchronizingMerge", "acyclic_synchronizing_merge"),
    refused(38, "General Synchronizing Merge", "38-general-synchronizing-merge"),
    yes(39, "Critical Section", "state::CriticalSection", "critical_section"),
    yes(40, "Interleaved Routing", "state::InterleavedRouting", "interleaved_routing"),
    partly(41, "Thread Merge", "instances::Instances", "thread_split_and_merge"),
    partly(42, "Thread Split", "instances::Instances", "thread_split_and_merge"),
    yes(43, "Explicit Termination", "cancellation::ExplicitTermination", "explicit_termination"),
];
