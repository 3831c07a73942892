//! Malicious files are refused, and quickly.

use crate::support::Project;
use interlocking_envoy::ProtocolFile;
use proptest::prelude::*;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Refused quickly: a file of one mebibyte takes less than a tenth of a second with optimised code. This test detects growth
/// that is not linear, on any machine.
fn refused(content: &[u8]) -> String {
    let started = Instant::now();
    let error = ProtocolFile::parse("x.yaml", content).unwrap_err().to_string();
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    error
}

#[test]
fn a_billion_laughs_are_refused() {
    let mut yaml = "a: &a [\"lol\", \"lol\"]\n".to_owned();
    for letter in 'b'..='z' {
        let before = char::from(letter as u8 - 1);
        writeln!(yaml, "{letter}: &{letter} [*{before}, *{before}, *{before}, *{before}, *{before}, *{before}]")
            .unwrap();
    }
    assert_eq!(refused(yaml.as_bytes()), "x.yaml:1:7: anchors and aliases are not taken: write the text out");
    assert_eq!(refused(b"name: *x\n"), "x.yaml:1:7: anchors and aliases are not taken: write the text out");
    assert_eq!(refused(b"name: !!str x\n"), "x.yaml:1:13: tags are not taken: remove \"!!str\"");
}

#[test]
fn what_is_deep_or_large_is_refused() {
    for open in ["[", "{a: ", "- ", "? ", "[{a: "] {
        let told = refused(open.repeat(100_000).as_bytes());
        assert!(told.contains("nested more than 16 deep"), "{open}: {told}");
    }
    assert!(refused(format!("{}1{}", "[".repeat(20), "]".repeat(20)).as_bytes()).contains("nested more than 16 deep"));
    assert!(refused(&vec![b'a'; (1 << 20) + 1]).contains("larger than 1048576 bytes"));
    // The largest permitted file.
    let text = format!("name: x\nsteps:\n  1: |\n{}", "    word\n".repeat(110_000));
    assert!(text.len() <= 1 << 20);
    assert_eq!(ProtocolFile::parse("x.yaml", text.as_bytes()).unwrap().steps.len(), 1);
    let many: String = (0..80_000).map(|index| format!("k{index}: v\n")).collect();
    assert!(refused(many.as_bytes()).contains("further problems"));
}

/// Code fences that are opened again and again, and references to missing steps, on lines of their own and on one line.
#[test]
fn steps_that_are_made_to_be_read_again_and_again_are_resolved_soon() {
    for (part, times, warnings) in
        [("`a` ", 200_000, 0), ("step 9\n    ", 80_000, 80_000), ("step 9 ", 120_000, 120_000)]
    {
        let text = format!("name: x\nsteps:\n  1: |\n    {}", part.repeat(times));
        let project = Project::new(&[("x.yaml", &text)]);
        let started = Instant::now();
        let resolved = project.resolve("x").unwrap();
        assert!(started.elapsed() < Duration::from_secs(20), "{part:?}: {:?}", started.elapsed());
        assert_eq!(resolved.warnings.len(), warnings);
    }
}

/// Thousands of steps, and thousands of entries that refer to none.
#[test]
fn many_entries_that_refer_to_nothing_are_refused_soon() {
    let mut text = "name: x\nsteps:\n".to_owned();
    for step in 1..8_000 {
        writeln!(text, "  {step}: a").unwrap();
    }
    for step in 0..8_000 {
        writeln!(text, "  {}.1: a", 100_000 + step).unwrap();
    }
    let project = Project::new(&[("x.yaml", &text)]);
    let started = Instant::now();
    let told = project.refusal("x");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!((lines.len(), lines[20]), (21, "and 7980 further problems"));
    assert!(
        lines[0].ends_with("no such step: name one of 7990, 7991, 7992, 7993, 7994, 7995, 7996, 7997, 7998, 7999"),
        "{}",
        lines[0]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any bytes have a result, and its locations are inside the file.
    #[test]
    fn no_bytes_are_too_much(
        content in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            "[a-c:\\-\\[\\]{}&*!|>'\"%@`#,? \n\t0-9.+~]{0,200}".prop_map(String::into_bytes),
            "(name|steps|extends|inputs|  1|  2\\+|- name): ?[|>\\[{&'\"a-c]?\n".prop_map(String::into_bytes),
        ],
    ) {
        if let Err(error) = ProtocolFile::parse("x.yaml", &content) {
            let lines = String::from_utf8_lossy(&content).lines().count();
            for interlocking_envoy::Problem { place, .. } in error {
                prop_assert!(place.line >= 1 && place.line <= lines + 1 && place.column >= 1, "{place}");
            }
        }
    }
}
