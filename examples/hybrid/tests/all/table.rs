//! The routing table as data, and as a drawing.

use expect_test::expect_file;
use hybrid::graph::Hybrid;
use interlocking::agent_calls::AgentCalls;
use interlocking::draw::mermaid;
use interlocking::graph::Graph as _;
use interlocking::table::{NodeKind, NodeRow};

held!(Hybrid);

fn row(name: &str) -> &'static NodeRow {
    Hybrid::net().table().nodes.iter().find(|row| row.name == name).unwrap()
}

/// `Kind(input) ⇒ branches → alternatives`, a join's slots in place of its input.
fn summary(row: &NodeRow) -> String {
    let slots = row.slots.iter().map(|slot| {
        let latched = if slot.latched { " latched" } else { "" };
        format!("{}: {}{latched}", slot.name, slot.ty)
    });
    let input = row.input.clone().unwrap_or_else(|| slots.collect::<Vec<_>>().join(", "));
    let branches = row.fork.iter().flat_map(|fork| &fork.branches).flatten().map(ToString::to_string);
    let branches: Vec<String> = branches.collect();
    let goto: Vec<String> = row.goto.iter().map(|goto| goto.to.to_string()).collect();
    let mut text = format!("{:?}({input})", row.kind);
    let spawn: Vec<String> = row.spawn.iter().map(ToString::to_string).collect();
    for (arrow, places) in [("⇒", branches), ("→", goto), ("⇢", spawn)] {
        if !places.is_empty() {
            text.push_str(&format!(" {arrow} {}", places.join(", ")));
        }
    }
    text
}

/// Each node's kind, its input, and its targets.
#[test]
fn nodes_take_and_lead_as_they_should() {
    let table = Hybrid::net().table();
    // HY-54, CON-92: an observer of at least types, tests, implementation and fix.
    let witness = row("witness");
    assert!(
        ["types", "tests", "implementation", "fix"].iter().all(|name| witness.observes.iter().any(|it| it == name))
    );
    assert_eq!((witness.kind, witness.report.as_deref()), (NodeKind::Observer, Some("WitnessReport")));
    // HY-55, HY-37: the input is a StackSpec, and the output a HybridResult.
    assert_eq!(table.output, "HybridResult");
    assert!(table.nodes[0].entry && table.nodes[0].name == "types");
    let rows = [
        // HY-38, HY-39, HY-40. CON-43: one agent's answer goes to two targets, to each the part that it takes. CON-87: payloads
        // have their own names.
        ("types", "Llm(StackSpec) ⇒ skeleton, adversary → exit"),
        ("skeleton", "Logic(TypesResult) → gate, exit"),
        ("adversary", "Llm(TypesAgentOutput) → gate"),
        // HY-41, HY-42, HY-43
        ("gate", "Join(skeleton: SkeletonState, adversary: TypeAdversaryResult) → blind_fork, types_fix, exit"),
        ("types_fix", "Llm(TypeHolesFound) ⇒ skeleton, adversary → exit"),
        ("blind_fork", "Fork(GatedState) ⇒ tests, implementation"),
        // HY-44, HY-45, HY-46
        ("tests", "Llm(TestsTemplateCtx) → blind, exit"),
        ("implementation", "Llm(ImplTemplateCtx) → blind, exit"),
        ("blind", "Join(tests: TestsResult, implementation: ImplResult latched) → verify"),
        // HY-47, HY-48, HY-49
        ("verify", "Logic(BlindResults) → merge, tests_reject, exit"),
        ("tests_reject", "Logic(TrivialTestsError) → tests"),
        ("merge", "Logic(VerifiedResults) → validate, conflict, exit"),
        // HY-251
        ("conflict", "Llm(ConflictState) → validate, exit"),
        // HY-50, HY-51
        ("validate", "Logic(MergedState) → post_validate, fix, exit"),
        ("fix", "Llm(ValidationFailure) → validate, exit"),
        // HY-52, HY-53, HY-250. CON-86: the input of the mutation adversary is its prompt's context.
        ("post_validate", "Logic(ValidatedState) → finish, mutation ⇢ mutation_advisory"),
        ("mutation", "Llm(MutationTemplateCtx) → settle"),
        ("settle", "Logic(MutationAdversaryResult) → finish, mutation_fix"),
        ("mutation_fix", "Llm(MutationFixInput) → verify, exit"),
        ("finish", "Logic(ValidatedState) → exit"),
        ("mutation_advisory", "Advisory(MutationTemplateCtx)"),
    ];
    for (name, expected) in rows {
        assert_eq!(summary(row(name)), expected, "{name}");
    }
    // The agents' nodes: template, schema and place, and whether they may write.
    let agents = [
        ("types", "TypesTpl<'_>", "TypesAgentOutput", "skeleton", false),
        ("adversary", "TypeAdversaryTpl<'_>", "TypeAdversaryOutput", "types-review", true),
        ("types_fix", "TypesFixTpl<'_>", "TypesAgentOutput", "skeleton", false),
        ("tests", "TestsTpl<'_>", "TestsAgentOutput", "tests", false),
        ("implementation", "ImplTpl<'_>", "ImplAgentOutput", "impl", false),
        ("fix", "FixTpl<'_>", "FixAgentOutput", "merge", false),
        ("conflict", "ConflictTpl<'_>", "ConflictResolveOutput", "merge", false),
        ("mutation", "MutationAdversaryTpl<'_>", "MutationAdversaryOutput", "mutation-review", true),
        ("mutation_advisory", "MutationAdversaryTpl<'_>", "MutationAdversaryOutput", "mutation-review", true),
        ("mutation_fix", "MutationFixTpl<'_>", "TestsAgentOutput", "tests", false),
    ];
    // CON-65: the task is the entry's input, and no other node's; handlers ask the run for it.
    let with_task = table.nodes.iter().filter(|row| row.input.as_deref() == Some("StackSpec"));
    assert_eq!(with_task.map(|row| row.name.as_str()).collect::<Vec<_>>(), ["types"]);
    for (name, prompt, output, workspace, read_only) in agents {
        let row = row(name);
        // HY-58: template, schema, directory and memory; input and targets are above. HY-56, TC-22: no node names a
        // vendor's model: the agent of its role has one. CON-94: the place is a name, which the run resolves.
        assert_eq!(row.model, None, "{name}");
        assert_eq!((row.prompt.as_deref(), row.output.as_deref()), (Some(prompt), Some(output)), "{name}");
        assert_eq!((row.workspace.as_deref(), row.read_only), (Some(workspace), read_only), "{name}");
        // What works beside the run has no part in its memory.
        let memory = Some("HybridMemory").filter(|_| name != "mutation_advisory");
        assert_eq!(row.memory.as_ref().map(|memory| memory.ty.as_str()), memory, "{name}");
    }
}

/// HY-69: the graph as a diagram.
#[test]
fn it_can_be_drawn() {
    expect_file!["./hybrid.mmd"].assert_eq(&mermaid(Hybrid::net().table()));
}

/// Types and adversary, ten times more: 22. The implementation once, tests eleven times, ten fixes: 22. The mutation adversary eleven times, as
/// often beside the run, ten rounds of stronger tests, and a conflict at each of eleven merges: 43.
#[test]
fn a_run_makes_at_most_87_agent_calls() {
    assert_eq!(Hybrid::AGENT_CALLS, AgentCalls { at_most: Some(87), exact: true });
}
