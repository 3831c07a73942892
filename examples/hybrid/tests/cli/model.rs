//! The demonstration's agents as a model behind a real program, which reads, writes, builds and answers, turn by turn.

use hybrid::demo::Scenario;
use interlocking_model_server::{Reaction, Request, Script};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Every role by the heading of its prompt.
pub(crate) const HEADINGS: [(&str, &str); 7] = [
    ("types", "# Design the types of "),
    ("types_fix", "# Close the holes in "),
    ("adversary", "# Break the types of "),
    ("tests", "# Write the properties of "),
    ("impl", "# Implement "),
    ("fix", "# Make the failing properties pass"),
    ("mutation", "# Find bugs that the tests do not catch"),
];

/// How long the first answer of the blind sides takes: enough time to interrupt them at work.
const THINKS: Duration = Duration::from_secs(1);

/// One turn of a model: a file, and the report about it.
struct Act {
    role: String,
    file: Option<(String, String)>,
    answer: Value,
}

/// A model that takes the protocol through each of its nodes: types with a hole, which is found and closed; tests of which one
/// is trivial, which are written again; an implementation with a bug, which is fixed.
pub(crate) fn every_node() -> Script {
    let acts = |scenario| acts(scenario).into_iter();
    let of = |scenario, role: &str, nth: usize| acts(scenario).filter(|act| act.role == role).nth(nth).unwrap();
    let plays = [
        ("types", vec![of(Scenario::TypesHole, "types", 0)]),
        ("adversary", (0..2).map(|nth| of(Scenario::TypesHole, "adversary", nth)).collect()),
        ("types_fix", vec![of(Scenario::TypesHole, "types_fix", 0)]),
        ("tests", (0..2).map(|nth| of(Scenario::TrivialTests, "tests", nth)).collect()),
        ("impl", vec![of(Scenario::FixRound, "impl", 0)]),
        ("fix", vec![of(Scenario::FixRound, "fix", 0)]),
        ("mutation", vec![of(Scenario::FixRound, "mutation", 0)]),
    ];
    Script::computed(move |request| {
        let Some(role) = role(request) else { return Reaction::status(400, "who is asked?") };
        let acts = plays.iter().find(|(name, _)| *name == role).map(|(_, acts)| acts);
        let is_second = match role {
            "tests" => request.prompt().contains("## Your previous tests were refused"),
            // The hole is closed when no field is public: the model has looked.
            "adversary" => request.texts().any(|text| text.contains("    items: Vec<i64>,")),
            _ => false,
        };
        play(request, role, &acts.unwrap()[..], usize::from(is_second))
    })
}

/// A model that does its task at once, in the package in this directory of a repository.
pub(crate) fn in_package(package: &'static str) -> Script {
    let mut acts = acts(Scenario::Happy);
    for (path, _) in acts.iter_mut().filter_map(|act| act.file.as_mut()) {
        *path = format!("{package}/{path}");
    }
    Script::computed(move |request| {
        let Some(role) = role(request) else { return Reaction::status(400, "who is asked?") };
        let own = acts.iter().position(|act| act.role == role).map(|at| &acts[at..=at]);
        play(request, role, own.unwrap_or_default(), 0)
    })
}

/// The same in Python: the same contract, in other files.
pub(crate) fn in_python() -> Script {
    let files = [
        ("types", "src/bounded_stack.py", include_str!("python/stubs.py")),
        ("tests", "tests/test_bounded_stack.py", include_str!("python/properties.py")),
        ("impl", "src/bounded_stack.py", include_str!("python/implementation.py")),
    ];
    let answers: Vec<(String, Value)> = acts(Scenario::Happy)
        .into_iter()
        .map(|act| (act.role, serde_json::from_str(&act.answer.to_string().replace("::", ".")).unwrap()))
        .collect();
    Script::computed(move |request| {
        let Some(role) = role(request) else { return Reaction::status(400, "who is asked?") };
        let (place, file) = (place(request), files.iter().find(|(of, ..)| *of == role));
        let at = |path: &str| place.join(path).display().to_string();
        match (request.results().len(), file) {
            (0, _) => Reaction::tool("Read", json!({ "file_path": at(file.map_or(files[0].1, |(_, path, _)| path)) })),
            (1, Some((_, path, text))) => Reaction::tool("Write", json!({ "file_path": at(path), "content": text })),
            _ => Reaction::output(answers.iter().find(|(of, _)| of == role).unwrap().1.clone()),
        }
    })
}

/// The role that is asked, by the heading of the prompt.
pub(crate) fn role(request: &Request) -> Option<&'static str> {
    let prompt = request.prompt();
    HEADINGS.into_iter().find(|(_, heading)| prompt.contains(heading)).map(|(role, _)| role)
}

/// The next step of a turn, by the number of tool results.
fn play(request: &Request, role: &str, acts: &[Act], nth: usize) -> Reaction {
    let place = place(request);
    let act = &acts[nth.min(acts.len() - 1)];
    let at = |path: &str| place.join(path).display().to_string();
    match (request.results().len(), &act.file) {
        // A program lets a model replace a file only after reading it; an adversary reads what it attacks.
        (0, _) => {
            let path = act.file.as_ref().map_or("src/lib.rs", |(path, _)| path);
            let reading = Reaction::tool("Read", json!({ "file_path": at(path) }));
            if ["tests", "impl"].contains(&role) { reading.after(THINKS) } else { reading }
        }
        (1, Some((path, content))) => Reaction::tool("Write", json!({ "file_path": at(path), "content": content })),
        // One side tries to see the other side's files, and to build its own.
        (2, _) if role == "impl" => {
            Reaction::tool("Read", json!({ "file_path": sibling(&place).join("tests/properties.rs") }))
        }
        (3, _) if role == "impl" => {
            Reaction::tool("Bash", json!({ "command": "cargo build --all-targets", "description": "build" }))
        }
        _ => Reaction::output(act.answer.clone()),
    }
}

/// The program's working directory, as it tells the model.
pub(crate) fn place(request: &Request) -> PathBuf {
    let line = |line: &str| line.trim().strip_prefix("- Primary working directory: ").map(PathBuf::from);
    request.system().lines().find_map(line).expect("the program says where it works")
}

/// The directory of the tests, given that of the implementation.
fn sibling(place: &Path) -> PathBuf {
    place.with_file_name("tests")
}

fn acts(scenario: Scenario) -> Vec<Act> {
    let script: toml::Table = scenario.script().parse().unwrap();
    let text = |value: &toml::Value| value.as_str().unwrap().to_owned();
    let act = |turn: &toml::Value| Act {
        role: text(&turn["agent"]),
        file: turn.get("write").map(|write| (text(&write[0]["path"]), text(&write[0]["content"]))),
        answer: serde_json::from_str(turn["output_json"].as_str().unwrap()).unwrap(),
    };
    script["turn"].as_array().unwrap().iter().map(act).collect()
}
