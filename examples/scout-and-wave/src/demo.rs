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

/// The task.
pub const TASK: &str = "Statistics of texts: counts, word frequencies and longest words, reports as text and as JSON, and a program for them.";

/// The scout's plan, as JSON.
pub const PLAN: &str = include_str!("../demo/plan.json");

/// An agent's work: a file of code and its test.
struct Work {
    agent: &'static str,
    wave: u32,
    /// Its worktree, as its prompt calls it: an agent that is alone in its wave works on `main`.
    worktree: &'static str,
    file: &'static str,
    code: &'static str,
    /// The name of its test: `tests/NAME.rs`.
    name: &'static str,
    test: &'static str,
    tests: &'static [&'static str],
}

const WORK: [Work; 6] = [
    Work {
        agent: "A",
        wave: 1,
        worktree: ".claude/worktrees/wave1-agent-a",
        file: "src/count.rs",
        code: include_str!("../demo/work/count.rs"),
        name: "count",
        test: include_str!("../demo/work/test_count.rs"),
        tests: &["a_text_is_counted", "nothing_has_nothing"],
    },
    Work {
        agent: "B",
        wave: 1,
        worktree: ".claude/worktrees/wave1-agent-b",
        file: "src/frequency.rs",
        code: include_str!("../demo/work/frequency.rs"),
        name: "frequency",
        test: include_str!("../demo/work/test_frequency.rs"),
        tests: &["the_most_frequent_word_is_first"],
    },
    Work {
        agent: "C",
        wave: 1,
        worktree: ".claude/worktrees/wave1-agent-c",
        file: "src/longest.rs",
        code: include_str!("../demo/work/longest.rs"),
        name: "longest",
        test: include_str!("../demo/work/test_longest.rs"),
        tests: &["the_longest_word_is_found"],
    },
    Work {
        agent: "D",
        wave: 2,
        worktree: ".claude/worktrees/wave2-agent-d",
        file: "src/report.rs",
        code: include_str!("../demo/work/report.rs"),
        name: "report",
        test: include_str!("../demo/work/test_report.rs"),
        tests: &["a_report_has_counts_and_words"],
    },
    Work {
        agent: "E",
        wave: 2,
        worktree: ".claude/worktrees/wave2-agent-e",
        file: "src/json.rs",
        code: include_str!("../demo/work/json.rs"),
        name: "json",
        test: include_str!("../demo/work/test_json.rs"),
        tests: &["counts_are_an_object"],
    },
    Work {
        agent: "F",
        wave: 3,
        worktree: "main",
        file: "src/main.rs",
        code: include_str!("../demo/work/main.rs"),
        name: "program",
        test: include_str!("../demo/work/test_program.rs"),
        tests: &["the_program_prints_a_report"],
    },
];

/// The script of the agents: the scout plans, and each agent writes its files, tests them, commits and reports.
///
/// # Errors
///
/// [`ScriptError`]: never, for the embedded script.
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
        let Self { agent, wave, worktree, file, code, name, test, tests } = self;
        let count = tests.len();
        let gate = format!("cargo test --offline --test {name}");
        let mut text = format!(
            "\n[[turn]]\nagent = \"agent\"\ncontains = [\"You are agent {agent} of wave {wave}\"]\ncost = 0.06\n"
        );
        let report = serde_json::json!({
            "status": "complete",
            "worktree": worktree,
            "commit": "$HEAD",
            "files_changed": [],
            "files_created": [file, &format!("tests/{name}.rs")],
            "interface_deviations": [],
            "out_of_scope_deps": [],
            "tests_added": tests,
            "verification": format!("PASS ({gate} - {count}/{count} tests)"),
        });
        _ = writeln!(text, "output_json = '''{report}'''");
        for (path, content) in [((*file).to_owned(), code), (format!("tests/{name}.rs"), test)] {
            _ = writeln!(text, "[[turn.write]]\npath = \"{path}\"\ncontent = '''\n{content}'''");
        }
        let words: Vec<_> = gate.split(' ').map(|word| format!("\"{word}\"")).collect();
        _ = writeln!(text, "[[turn.run]]\ncommand = [{}]", words.join(", "));
        _ = writeln!(text, "[[turn.commit]]\nmessage = \"feat: {name}\"");
        text
    }
}
