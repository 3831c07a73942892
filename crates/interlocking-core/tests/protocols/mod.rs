//! The three protocols as tables. Their exhausted routes go to `exit` and cancel everything.

use interlocking_core::table::{NodeKind, NodeRow, Table};

/// Tests and implementation, written without sight of each other, then merged, validated and
/// attacked.
pub(crate) fn hybrid() -> Table {
    let llm = |name: &str, input: &str, prompt: &str, output: &str| {
        NodeRow::new(name, NodeKind::Llm).input(input).llm(prompt, output)
    };
    let logic = |name: &str, input: &str| NodeRow::new(name, NodeKind::Logic).input(input);
    Table::new("Hybrid", "HybridResult")
        .with(
            llm("types", "StackSpec", "TypesTpl", "TypesAgentOutput")
                .entry()
                .goto("exit", &[])
                .fork(&["skeleton", "adversary"], &[])
                .agent("types")
                .workspace("skeleton"),
        )
        .with(logic("skeleton", "TypesResult").goto("gate.skeleton", &[]).workspace("skeleton"))
        .with(
            llm("adversary", "TypesAgentOutput", "TypeAdversaryTpl", "TypeAdversaryOutput")
                .goto("gate.adversary", &[])
                .agent("adversary")
                .workspace("skeleton")
                .read_only(),
        )
        .with(
            NodeRow::new("gate", NodeKind::Join)
                .slot("skeleton", "SkeletonState", &["skeleton"], false)
                .slot("adversary", "TypeAdversaryResult", &["adversary"], false)
                .goto("blind_fork", &[])
                .goto("types_fix", &[])
                .goto("exit", &[]),
        )
        .with(bounded(
            llm("types_fix", "TypeHolesFound", "TypesFixTpl", "TypesAgentOutput")
                .goto("exit", &[])
                .fork(&["skeleton", "adversary"], &[])
                .agent("types")
                .workspace("skeleton"),
            5,
        ))
        .with(NodeRow::new("blind_fork", NodeKind::Fork).input("GatedState").fork(&["tests", "impl"], &[]))
        .with(
            llm("tests", "TestsTemplateCtx", "TestsTpl", "TestsAgentOutput")
                .goto("blind.tests", &[])
                .goto("exit", &["*"])
                .agent("tests")
                .workspace("tests")
                .timeout_ms(1_800_000),
        )
        .with(
            llm("impl", "ImplTemplateCtx", "ImplTpl", "ImplAgentOutput")
                .goto("blind.impl", &[])
                .goto("exit", &["*"])
                .agent("impl")
                .workspace("impl")
                .timeout_ms(1_800_000),
        )
        .with(
            NodeRow::new("blind", NodeKind::Join)
                .slot("tests", "TestsResult", &["tests"], false)
                .slot("impl", "ImplResult", &["impl"], true)
                .goto("verify", &[]),
        )
        .with(logic("verify", "BlindResults").goto("merge", &[]).goto("tests_reject", &[]))
        .with(bounded(logic("tests_reject", "TrivialTestsError").goto("tests", &[]), 5))
        .with(
            logic("merge", "VerifiedResults")
                .goto("validate", &[])
                .goto("conflict", &[])
                .goto("exit", &[])
                .workspace("merge"),
        )
        .with(bounded(
            llm("conflict", "ConflictState", "ConflictTpl", "ConflictAgentOutput")
                .goto("validate", &[])
                .goto("exit", &[])
                .agent("fix")
                .workspace("merge"),
            3,
        ))
        .with(logic("validate", "MergedState").goto("post", &[]).goto("fix", &[]).goto("exit", &[]).workspace("merge"))
        .with(bounded(
            llm("fix", "ValidationFailure", "FixTpl", "FixAgentOutput")
                .goto("validate", &[])
                .goto("exit", &[])
                .agent("fix")
                .workspace("merge"),
            5,
        ))
        .with(logic("post", "ValidatedState").goto("finish", &[]).goto("mutation", &[]).spawn("mutation_advisory"))
        .with(
            llm("mutation", "MutationTemplateCtx", "MutationAdversaryTpl", "MutationAdversaryOutput")
                .goto("settle", &[])
                .agent("adversary")
                .workspace("merge")
                .read_only(),
        )
        .with(logic("settle", "MutationResult").goto("finish", &[]).goto("mutation_fix", &[]))
        .with(bounded(
            llm("mutation_fix", "MutationFixInput", "MutationFixTpl", "TestsAgentOutput")
                .goto("verify", &[])
                .agent("tests")
                .workspace("tests"),
            5,
        ))
        .with(logic("finish", "FinishState").goto("exit", &[]))
        .with(
            NodeRow::new("mutation_advisory", NodeKind::Advisory)
                .input("MutationTemplateCtx")
                .agent("adversary")
                .workspace("merge")
                .read_only(),
        )
        .with(NodeRow::new("witness", NodeKind::Observer).input("Observation"))
}

/// A tree of graphs: each writes its tests, lets its children implement the parts, and merges these.
pub(crate) fn v3() -> Table {
    Table::new("V3", "V3Result")
        .with(bounded(llm("scaffold").entry().goto("fork", &[]).goto("exit", &[]), 5))
        .with(node("fork", NodeKind::Fork).fork(&["write_tests", "children|barrier.merges"], &[]))
        .with(bounded(node("children", NodeKind::Map).goto("integrate", &[]), 5))
        .with(
            logic("integrate")
                .goto("barrier.merges", &[])
                .goto("children", &[])
                .goto("scaffold", &["write_tests", "barrier"])
                .goto("exit", &["*"]),
        )
        .with(bounded(
            llm("write_tests").goto("barrier.tests", &[]).goto("scaffold", &["children", "integrate", "barrier"]),
            12,
        ))
        .with(
            NodeRow::new("barrier", NodeKind::Join)
                .slot("tests", "Payload", &["write_tests"], false)
                .slot("merges", "Payload", &["integrate", "fork"], true)
                .goto("impl", &[])
                .goto("scaffold", &["barrier"])
                .goto("exit", &[]),
        )
        .with(bounded(
            llm("impl")
                .goto("impl", &[])
                .goto("review", &[])
                .goto("scaffold", &["barrier"])
                .goto("exit", &[])
                .attempts(5),
            12,
        ))
        .with(bounded(llm("review").goto("merger", &[]).goto("write_tests", &[]).goto("exit", &[]), 12))
        .with(bounded(logic("merger").goto("judge", &[]).goto("exit", &[]).goto("impl", &[]), 5))
        .with(llm("judge").goto("exit", &[]).goto("review", &[]))
        .with(bounded(
            node("rebaser", NodeKind::Event)
                .resume()
                .goto("scaffold", &["*"])
                .goto("write_tests", &["write_tests", "barrier.tests", "impl", "review", "judge", "merger"])
                .goto("exit", &["*"]),
            16,
        ))
}

/// Scouts and architects plan; waves of agents carry the plan out; people approve at gates.
pub(crate) fn scout_and_wave() -> Table {
    let plain = |row: NodeRow, targets: &[&str]| targets.iter().fold(row, |row, target| row.goto(target, &[]));
    let human = |name: &str| node(name, NodeKind::Human);
    let map = |name: &str| node(name, NodeKind::Map);
    Table::new("ScoutAndWave", "SawResult")
        .with(plain(logic("command").entry(), &["check", "scout", "architect", "pending", "quick_check"]))
        .with(plain(logic("check"), &["exit"]))
        .with(bounded(plain(llm("scout"), &["suit"]), 3))
        .with(bounded(plain(llm("architect"), &["suit"]), 3))
        .with(plain(logic("suit"), &["review", "exit"]))
        .with(bounded(plain(human("review"), &["pending", "scout", "architect", "exit"]), 9))
        .with(bounded(plain(logic("pending"), &["solo", "agents", "review", "blocked_contract", "waves_done"]), 78))
        .with(plain(llm("solo"), &["verify", "blocked_agent"]))
        .with(plain(map("agents"), &["predict", "blocked_agent", "blocked_contract"]))
        .with(plain(logic("predict"), &["merge", "blocked_contract"]))
        .with(plain(logic("merge"), &["append", "blocked_agent"]))
        .with(plain(logic("append"), &["verify", "blocked_contract"]))
        .with(plain(logic("verify"), &["verified", "blocked_verify"]))
        .with(plain(logic("verified"), &["pending"]))
        .with(plain(logic("waves_done"), &["exit"]))
        .with(bounded(plain(human("blocked_verify"), &["verify", "exit"]), 9))
        .with(bounded(plain(human("blocked_agent"), &["agents", "solo", "predict", "verify", "exit"]), 9))
        .with(bounded(plain(human("blocked_contract"), &["pending", "exit"]), 9))
        .with(plain(logic("quick_check"), &["quick", "exit"]))
        .with(plain(map("quick"), &["quick_merge", "exit"]))
        .with(plain(logic("quick_merge"), &["quick_verify", "exit"]))
        .with(plain(logic("quick_verify"), &["exit"]))
}

fn bounded(row: NodeRow, visits: u32) -> NodeRow {
    row.visits(visits).exhausted("exit", &["*"])
}

fn node(name: &str, kind: NodeKind) -> NodeRow {
    NodeRow::new(name, kind).input("Payload")
}

fn logic(name: &str) -> NodeRow {
    node(name, NodeKind::Logic)
}

fn llm(name: &str) -> NodeRow {
    node(name, NodeKind::Llm).llm("Prompt", "Output")
}
