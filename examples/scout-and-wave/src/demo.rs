//! The demonstration: a small crate, a task, and what the scripted agents of each wave write.
//!
//! Everything is embedded, so that an installed program can show a run anywhere, without a network: the crate has no dependency.

use interlocking::agents::{Script, ScriptError};
use interlocking::cli::repository::EmbeddedFile;
use std::fmt::Write as _;

/// The crate that a run begins with.
pub const SEED: [EmbeddedFile; 6] = [
    EmbeddedFile { path: "Cargo.toml", contents: include_str!("../demo/seed/Cargo.toml") },
    EmbeddedFile { path: "Cargo.lock", contents: include_str!("../demo/seed/Cargo.lock") },
    EmbeddedFile { path: ".gitignore", contents: include_str!("../demo/seed/gitignore") },
    EmbeddedFile { path: "README.md", contents: include_str!("../demo/seed/README.md") },
    EmbeddedFile { path: "CHANGELOG.md", contents: include_str!("../demo/seed/CHANGELOG.md") },
    EmbeddedFile { path: "src/lib.rs", contents: include_str!("../demo/seed/src/lib.rs") },
];

/// What is wanted.
pub const TASK: &str = "Statistics of texts: counts and word frequencies, and reports of them as text and as JSON.";

/// The scout's plan, as JSON.
pub const PLAN: &str = include_str!("../demo/plan.json");

/// An agent's work: a module and its test.
struct Work {
    post: &'static str,
    branch: &'static str,
    name: &'static str,
    module: &'static str,
    test: &'static str,
    tests: &'static [&'static str],
}

const WORK: [Work; 4] = [
    Work {
        post: "agent A of wave 1",
        branch: "wave1-agent-a",
        name: "count",
        module: include_str!("../demo/work/count.rs"),
        test: include_str!("../demo/work/test_count.rs"),
        tests: &["a_text_is_counted", "nothing_has_nothing"],
    },
    Work {
        post: "agent B of wave 1",
        branch: "wave1-agent-b",
        name: "frequency",
        module: include_str!("../demo/work/frequency.rs"),
        test: include_str!("../demo/work/test_frequency.rs"),
        tests: &["the_most_frequent_word_is_first"],
    },
    Work {
        post: "agent C of wave 2",
        branch: "wave2-agent-c",
        name: "report",
        module: include_str!("../demo/work/report.rs"),
        test: include_str!("../demo/work/test_report.rs"),
        tests: &["a_report_has_counts_and_words"],
    },
    Work {
        post: "agent D of wave 2",
        branch: "wave2-agent-d",
        name: "json",
        module: include_str!("../demo/work/json.rs"),
        test: include_str!("../demo/work/test_json.rs"),
        tests: &["counts_are_an_object"],
    },
];

/// What the scripted agents do: the scout plans, and each agent writes its files, tests them, commits and reports.
///
/// # Errors
///
/// [`ScriptError`]: never of what is embedded.
pub fn script() -> Result<Script, ScriptError> {
    let mut text = format!("[[turn]]\nagent = \"scout\"\ncost = 0.04\noutput_json = '''\n{PLAN}'''\n");
    for work in &WORK {
        text.push_str(&work.turn());
    }
    Script::parse("the demonstration's agents", &text)
}

impl Work {
    /// As a turn of a script.
    fn turn(&self) -> String {
        let Self { post, branch, name, module, test, tests } = self;
        let count = tests.len();
        let gate = format!("cargo test --offline --test {name}");
        let mut text = format!("\n[[turn]]\nagent = \"agent\"\ncontains = [\"You are {post}\"]\ncost = 0.06\n");
        let report = serde_json::json!({
            "status": "complete",
            "worktree": format!(".claude/worktrees/{branch}"),
            "commit": "$HEAD",
            "files_changed": [],
            "files_created": [format!("src/{name}.rs"), format!("tests/{name}.rs")],
            "interface_deviations": [],
            "out_of_scope_deps": [],
            "tests_added": tests,
            "verification": format!("PASS ({gate} - {count}/{count} tests)"),
        });
        _ = writeln!(text, "output_json = '''{report}'''");
        for (path, content) in [(format!("src/{name}.rs"), module), (format!("tests/{name}.rs"), test)] {
            _ = writeln!(text, "[[turn.write]]\npath = \"{path}\"\ncontent = '''\n{content}'''");
        }
        let words: Vec<_> = gate.split(' ').map(|word| format!("\"{word}\"")).collect();
        _ = writeln!(text, "[[turn.run]]\ncommand = [{}]", words.join(", "));
        _ = writeln!(text, "[[turn.commit]]\nmessage = \"feat: {name}\"");
        text
    }
}
