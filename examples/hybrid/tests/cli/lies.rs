//! False claims of agents. Each lie is scripted and repeated; the run detects it, ends without success, and its summary names it.

use crate::program::{Ran, Repository};
use hybrid::demo::{SPEC, Scenario};
use std::fs;
use std::path::Path;
use std::thread;

/// A lie, the reason for which the run ends, and the lie's description in the summary.
const LIES: [(Scenario, &str, &str); 12] = [
    // HY-03, HY-149.
    (
        Scenario::TrivialTests,
        "TestsRejected",
        "these properties pass although every function is still a stub, so they check nothing: prop_peek_changes_nothing",
    ),
    // CON-53.
    (Scenario::TestsDoNotCompile, "TestsRejected", "the tests do not compile:"),
    // HY-150.
    (Scenario::BuildLie, "ImplementationDoesNotBuild", "error[E0599]: no method named `size`"),
    // HY-259.
    (
        Scenario::ImplEditsTests,
        "BarrierBroken",
        "the implementation agent may not change `tests/properties.rs`, which belongs to the tests",
    ),
    // HY-141, HY-153.
    (
        Scenario::ClaimedCoverage,
        "CoverageClaimMismatch",
        "`prop_new_stack_is_empty` does not exercise what is claimed; it calls ",
    ),
    // HY-157.
    (
        Scenario::TestsOfAnotherType,
        "CoverageClaimMismatch",
        "does not exercise what is claimed; it calls BoundedStack::with_capacity\n",
    ),
    (Scenario::SwallowedPanics, "TestsRejected", "`catch_unwind` is refused: it hides failures"),
    (
        Scenario::TestsLeftOut,
        "TestsRejected",
        "prop_examples (it is in the file, but no test program has it: it is not compiled); these are claimed, but were not run: \
         prop_peek_changes_nothing",
    ),
    (Scenario::TestsReadTheSource, "TestsRejected", "`include_str!` is refused: it reads a file when it is compiled"),
    (
        Scenario::DetectsTests,
        "NotVerifiable",
        "`std::thread::current` is refused: its name tells a test from other uses",
    ),
    // HY-191, HY-259.
    (
        Scenario::EditsAfterCommit,
        "BarrierBroken",
        "the fix agent may not change `tests/properties.rs`, which belongs to the tests",
    ),
    (
        Scenario::FakedHarness,
        "BarrierBroken",
        "the implementation agent may not change `build.rs`, which defines the build",
    ),
];

/// Runs the protocol with a script in which no agent becomes honest, and with one further try.
fn ran(scenario: Scenario, repository: &Repository, directory: &Path) -> Ran {
    let (spec, script) = (directory.join("spec.toml"), directory.join(format!("{scenario:?}.toml")));
    fs::write(&spec, SPEC.replace("maxFixAttempts = 5", "maxFixAttempts = 1")).unwrap();
    let mut text = scenario.script().to_owned();
    if matches!(scenario, Scenario::TrivialTests | Scenario::TestsDoNotCompile) {
        text = text.replacen("agent = \"tests\"\n", "agent = \"tests\"\ntimes = \"any\"\n", 1);
    }
    fs::write(&script, text).unwrap();
    let [spec, script] = [&spec, &script].map(|path| path.to_str().unwrap());
    repository.run(&["--spec", spec, "--script", script])
}

#[tokio::test]
async fn each_of_twelve_lies_is_seen_and_named() {
    let directory = tempfile::tempdir().unwrap();
    let mut told = Vec::new();
    for lie in &LIES {
        told.push((lie, Repository::new().await));
    }
    let looked_at = |told: &[(&(Scenario, &str, &str), Repository)]| -> Vec<String> {
        let wrong = told.iter().filter_map(|((scenario, reason, said), repository)| {
            let ran = ran(*scenario, repository, directory.path());
            let account = ran.json();
            let is_seen = ran.exit == Some(1) && account["result"]["failure"].get(reason).is_some();
            let is_named = ran.stderr.contains(&format!("Not a success: {reason}; `main` is where it was."));
            let is_told = ran.stderr.contains(said) && account["target"]["before"] == account["target"]["after"];
            (!(is_seen && is_named && is_told)).then(|| format!("{scenario:?}: {:?}\n{}", ran.exit, ran.stderr))
        });
        wrong.collect()
    };
    let wrong = thread::scope(|scope| {
        let halves = told.chunks(LIES.len() / 2).map(|told| scope.spawn(|| looked_at(told))).collect::<Vec<_>>();
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
