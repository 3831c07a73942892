//! The routing table: the whole protocol on one page. What the nodes do is in [`handlers`](crate::handlers).

use crate::handlers::{
    Blind, BlindFork, Completion, Conflict, Fix, Gate, Implementation, Merge, Mutation, MutationAdvisory, MutationFix,
    PostValidate, Settle, Skeleton, Tests, TestsReject, TypeAdversary, Types, TypesFix, Validate, Verify, Witness,
};
use crate::prompts::{
    ConflictTpl, FixTpl, ImplTpl, MutationAdversaryTpl, MutationFixTpl, TestsTpl, TypeAdversaryTpl, TypesFixTpl,
    TypesTpl,
};
use crate::types::{
    BlindResults, ConflictResolveOutput, ConflictState, FixAgentOutput, GatedState, HybridMemory, HybridResult,
    ImplAgentOutput, ImplResult, ImplTemplateCtx, MergedState, MutationAdversaryOutput, MutationAdversaryResult,
    MutationFixInput, MutationTemplateCtx, SkeletonState, StackSpec, TestsAgentOutput, TestsResult, TestsTemplateCtx,
    TrivialTestsError, TypeAdversaryOutput, TypeAdversaryResult, TypeHolesFound, TypesAgentOutput, TypesResult,
    ValidatedState, ValidationFailure, VerifiedResults, WitnessReport,
};
use crate::workbench::Workbench;
use interlocking::prelude::*;
use std::sync::Arc;

/// Tests and implementation, written blind to each other, with checks that no agent can influence.
///
/// Every loop is bounded twice: by the task's own `maxFixAttempts`, which ends in a typed result, and by `visits`, which is the
/// most that a task may ask for.
#[derive(Graph)]
#[graph(output = HybridResult)]
pub struct Hybrid {
    /// Designs the types, and writes them with stubs for bodies.
    #[node(entry, input = StackSpec, prompt = TypesTpl<'_>, output = TypesAgentOutput, workspace = "skeleton",
        fork(skeleton, adversary), goto(exit), memory(run: HybridMemory), timeout = "30m")]
    pub(crate) types: LLMNode<Types>,

    /// Checks that every body is a stub and that it all builds.
    #[node(input = TypesResult, goto(gate), goto(exit, cancels(*)), workspace = "skeleton", memory(run: HybridMemory))]
    pub(crate) skeleton: LogicNode<Skeleton>,

    /// Attacks the types; reads the types commit, and may not write.
    #[node(input = TypesAgentOutput, prompt = TypeAdversaryTpl<'_>, output = TypeAdversaryOutput,
        workspace = "types-review", read_only, goto(gate), memory(run: HybridMemory), timeout = "30m")]
    pub(crate) adversary: LLMNode<TypeAdversary>,

    /// Passes sound types on, and sends the others back.
    #[node(join(skeleton: SkeletonState, adversary: TypeAdversaryResult), goto(blind_fork, types_fix, exit),
        memory(run: HybridMemory))]
    pub(crate) gate: JoinNode<Gate>,

    /// Repairs the types; skeleton and adversary check them again.
    #[node(input = TypeHolesFound, prompt = TypesFixTpl<'_>, output = TypesAgentOutput, workspace = "skeleton",
        fork(skeleton, adversary), goto(exit), visits = 10, memory(run: HybridMemory), timeout = "30m")]
    pub(crate) types_fix: LLMNode<TypesFix>,

    /// Gives each side its part of the contract. Each works in a clone of its own, of the same commit.
    #[node(input = GatedState, fork(tests, implementation), memory(run: HybridMemory))]
    pub(crate) blind_fork: ForkNode<BlindFork>,

    /// Writes properties that fail on the stubs, without seeing any implementation.
    #[node(input = TestsTemplateCtx, prompt = TestsTpl<'_>, output = TestsAgentOutput, workspace = "tests",
        blind_to(implementation), goto(blind), goto(exit, cancels(*)), visits = 11, memory(run: HybridMemory), timeout = "30m")]
    pub(crate) tests: LLMNode<Tests>,

    /// Writes the implementation, without seeing any test.
    #[node(input = ImplTemplateCtx, prompt = ImplTpl<'_>, output = ImplAgentOutput, agent = "impl", workspace = "impl",
        blind_to(tests), goto(blind), goto(exit, cancels(*)), memory(run: HybridMemory), timeout = "30m")]
    pub(crate) implementation: LLMNode<Implementation>,

    /// Waits for both sides. When only the tests are written again, the implementation is kept.
    #[node(join(tests: TestsResult, implementation: ImplResult latched), goto(verify))]
    pub(crate) blind: JoinNode<Blind>,

    /// Runs the tests where there is no implementation: each property must fail.
    #[node(input = BlindResults, goto(merge, tests_reject, exit), workspace = "tests", visits = 21,
        memory(run: HybridMemory))]
    pub(crate) verify: LogicNode<Verify>,

    /// Resets the tests worktree and reports what was wrong.
    #[node(input = TrivialTestsError, goto(tests), visits = 10, memory(run: HybridMemory))]
    pub(crate) tests_reject: LogicNode<TestsReject>,

    /// Picks both sides' commits onto the skeleton, in a fresh worktree.
    #[node(input = VerifiedResults, goto(validate, conflict, exit), workspace = "merge", memory(run: HybridMemory))]
    pub(crate) merge: LogicNode<Merge>,

    /// Resolves conflicts in lines that both sides have written.
    #[node(input = ConflictState, prompt = ConflictTpl<'_>, output = ConflictResolveOutput, workspace = "merge",
        goto(validate, exit), visits = 11, memory(run: HybridMemory), timeout = "30m")]
    pub(crate) conflict: LLMNode<Conflict>,

    /// Runs the tests on the merged code, and decides whether another fix makes sense.
    #[node(input = MergedState, goto(post_validate, fix, exit), workspace = "merge", memory(run: HybridMemory))]
    pub(crate) validate: LogicNode<Validate>,

    /// Repairs the implementation; it may not change the verified tests.
    #[node(input = ValidationFailure, prompt = FixTpl<'_>, output = FixAgentOutput, workspace = "merge",
        goto(validate, exit), visits = 10, memory(run: HybridMemory), timeout = "30m")]
    pub(crate) fix: LLMNode<Fix>,

    /// Starts the attack on the tests: beside the run, or as a part of it if the task says that survivors block.
    #[node(input = ValidatedState, goto(finish, mutation), spawn(mutation_advisory), memory(run: HybridMemory))]
    pub(crate) post_validate: LogicNode<PostValidate>,

    /// Looks for changes of the implementation that no test detects; reads the merged code, and may not write.
    #[node(input = MutationTemplateCtx, prompt = MutationAdversaryTpl<'_>, output = MutationAdversaryOutput,
        workspace = "mutation-review", read_only, goto(settle), memory(run: HybridMemory), timeout = "30m")]
    pub(crate) mutation: LLMNode<Mutation>,

    /// Passes tests on that catch every mutant, and has the others strengthened.
    #[node(input = MutationAdversaryResult, goto(finish, mutation_fix), memory(run: HybridMemory))]
    pub(crate) settle: LogicNode<Settle>,

    /// Adds the properties that would have caught the survivors; the existing tests stay.
    #[node(input = MutationFixInput, prompt = MutationFixTpl<'_>, output = TestsAgentOutput, agent = "tests",
        workspace = "tests",
        blind_to(implementation), goto(verify, exit), visits = 10, memory(run: HybridMemory), timeout = "30m")]
    pub(crate) mutation_fix: LLMNode<MutationFix>,

    /// Makes the result.
    #[node(input = ValidatedState, goto(exit), memory(run: HybridMemory))]
    pub(crate) finish: LogicNode<Completion>,

    /// The same attack beside the run, which waits for it at its exit, up to a deadline.
    #[node(input = MutationTemplateCtx, prompt = MutationAdversaryTpl<'_>, output = MutationAdversaryOutput,
        agent = "mutation", workspace = "mutation-review", read_only, report = MutationAdversaryResult, reports_to(exit),
        visits = 11, timeout = "30m")]
    pub(crate) mutation_advisory: AdvisoryNode<MutationAdvisory>,

    /// Records what each node did. It steers nothing.
    #[node(observes(types, skeleton, adversary, gate, types_fix, blind_fork, tests, implementation, blind, verify,
        tests_reject, merge, conflict, validate, fix, post_validate, mutation, settle, mutation_fix, finish,
        mutation_advisory), report = WitnessReport, reports_to(exit))]
    pub(crate) witness: ObserverNode<Witness>,
}

impl Hybrid {
    /// The graph with handlers that work on `workbench`.
    pub fn new(workbench: &Arc<Workbench>) -> Self {
        let bench = || workbench.clone();
        Self {
            types: LLMNode(Types(bench())),
            skeleton: LogicNode(Skeleton(bench())),
            adversary: LLMNode(TypeAdversary(bench())),
            gate: JoinNode(Gate),
            types_fix: LLMNode(TypesFix(bench())),
            blind_fork: ForkNode(BlindFork),
            tests: LLMNode(Tests(bench())),
            implementation: LLMNode(Implementation(bench())),
            blind: JoinNode(Blind),
            verify: LogicNode(Verify(bench())),
            tests_reject: LogicNode(TestsReject),
            merge: LogicNode(Merge(bench())),
            conflict: LLMNode(Conflict(bench())),
            validate: LogicNode(Validate(bench())),
            fix: LLMNode(Fix(bench())),
            post_validate: LogicNode(PostValidate(bench())),
            mutation: LLMNode(Mutation(bench())),
            settle: LogicNode(Settle),
            mutation_fix: LLMNode(MutationFix(bench())),
            finish: LogicNode(Completion(bench())),
            mutation_advisory: AdvisoryNode(MutationAdvisory(bench())),
            witness: ObserverNode(Witness),
        }
    }
}
