//! The document: how it is written and read, and what a person changes in it.

use crate::reports::{post, report};
use crate::suitability::{files, plan};
use expect_test::expect_file;
use scout_and_wave::document::{Field, Impl, Status, planned, with_report, with_status};
use scout_and_wave::protocol::deviation::OpenDeviation;
use scout_and_wave::protocol::ownership::waves_of;
use scout_and_wave::protocol::state::{BlockReason, State};
use scout_and_wave::protocol::suitability::judge;

fn document() -> String {
    planned(&plan(), None, &judge(&plan(), &files())).unwrap()
}

fn problems(text: &str) -> Vec<String> {
    let problems = Impl::read("docs/IMPL.md", text).unwrap_err().to_string();
    problems.lines().map(str::to_owned).collect()
}

/// The whole document, as first written. SAW-58, SAW-59, SAW-60, SAW-61, SAW-62, SAW-63, SAW-64, SAW-65, SAW-66: every field of
/// every prompt is filled in from the plan.
#[test]
fn it_is_written_from_the_plan() {
    let text = document();
    expect_file!["../golden/IMPL.md"].assert_eq(&text);
    assert!(!text.contains("\n\n\n"), "more than one blank line in a row");
    assert!(!text.lines().any(|line| line.ends_with(' ')), "a line ends with a space");
    let read = Impl::read("docs/IMPL.md", &text).unwrap();
    assert_eq!(read.waves.waves, waves_of(&plan()));
    assert_eq!((&read.waves.gate, &read.waves.append_only), (&plan().gate, &plan().append_only));
    assert_eq!(read.contracts.contracts, plan().contracts);
    assert_eq!(read.status.state, State::Reviewed);
    let (prompt, _) = read.prompt(&"D".parse().unwrap()).unwrap();
    let has = |field: Field, parts: &[&str]| parts.iter().all(|part| prompt.field(field).contains(part));
    assert!(has(Field::Isolation, &[".claude/worktrees/wave2-agent-d", "`wave2-agent-d`"]));
    assert!(has(Field::FileOwnership, &["`src/report.rs` (created)", "`tests/report.rs` (created)"]));
    assert!(has(Field::InterfacesToImplement, &["pub fn report("]));
    assert!(has(Field::InterfacesToCall, &["pub fn count(text: &str) -> Counts", "pub fn frequency("]));
    assert!(has(Field::WhatToImplement, &["five most frequent words"]));
    assert!(has(Field::TestsToWrite, &["- a_report_has_counts_and_words"]));
    assert!(has(Field::VerificationGate, &["`cargo test --offline --test report`"]));
    assert!(has(Field::Constraints, &["- No dependency."]));
    assert!(has(Field::Report, &["`interface_deviations`", ".claude/worktrees/wave2-agent-d"]));
}

/// SAW-16, SAW-66: text that a scout writes into a field ends neither the field nor the agent's section.
#[test]
fn a_scouts_words_are_no_sections() {
    let words = "Do it.\n### Agent A - Prompt\n  #### 8. Report\n~~~\n```yaml\n## Status\n#[test]\nDone.";
    let mut changed = plan();
    changed.summary = words.to_owned();
    changed.title = words.to_owned();
    changed.contracts[0].name = words.to_owned();
    changed.contracts[0].signature += &format!("\n{words}\n```\n## Waves");
    for agent in changed.waves.iter_mut().flat_map(|wave| &mut wave.agents) {
        agent.task = words.to_owned();
        agent.tests = vec![words.to_owned()];
        agent.constraints = vec![words.to_owned()];
    }
    let mut suitability = judge(&changed, &files());
    suitability.rationale = words.to_owned();
    let read = Impl::read("IMPL.md", &planned(&changed, None, &suitability).unwrap()).unwrap();
    assert_eq!((&read.suitability, &read.contracts.contracts), (&suitability, &changed.contracts));
    let agents: Vec<_> = read.prompts.iter().map(|(prompt, _)| prompt.agent.as_str()).collect();
    assert_eq!(agents, ["A", "B", "C", "D", "E", "F"]);
    let list = "- Do it. ### Agent A - Prompt #### 8. Report ~~~ ```yaml ## Status #[test] Done.";
    let task = "Do it.\n\\### Agent A - Prompt\n  \\#### 8. Report\n\\~~~\n\\```yaml\n\\## Status\n#[test]\nDone.";
    for (prompt, _) in &read.prompts {
        assert_eq!(prompt.field(Field::WhatToImplement), task);
        assert_eq!((prompt.field(Field::TestsToWrite), prompt.field(Field::Constraints)), (list, list));
        assert!(prompt.field(Field::Report).starts_with("Commit everything"));
        let signature = &changed.contracts[0].signature;
        let has_it = [Field::InterfacesToImplement, Field::InterfacesToCall]
            .map(|field| prompt.field(field).contains(signature));
        let is_party = changed.contracts[0]
            .provided_by
            .iter()
            .chain(&changed.contracts[0].called_by)
            .any(|agent| *agent == prompt.agent);
        assert_eq!(has_it.contains(&true), is_party);
    }
}

/// SAW-67: nine numbered fields, which are read back as written.
#[test]
fn prompts_are_read_as_they_are_written() {
    let read = Impl::read("docs/IMPL.md", &document()).unwrap();
    assert_eq!(read.prompts.len(), 6);
    for (prompt, text) in &read.prompts {
        assert_eq!(&prompt.to_string(), text);
        assert!(Field::ALL.iter().all(|field| !prompt.field(*field).is_empty()));
    }
}

/// SAW-66: a missing, empty or duplicate field is reported with its location.
#[test]
fn a_prompt_without_a_field_is_an_error() {
    let text = document();
    let line = |text: &str, of: &str| 1 + text.lines().position(|line| line == of).unwrap();
    let agent = line(&text, "### Agent A - Prompt");
    for field in Field::ALL {
        let heading = format!("#### {}. {}", field.number(), field.title());
        // The first one is agent A's.
        let without = text.replacen(&heading, &format!("#### Field {}", field.number()), 1);
        let said = format!(
            "docs/IMPL.md:{agent}:1: the prompt of agent A says nothing under `{heading}`: write it, or `None.`"
        );
        assert_eq!(problems(&without), [said]);
    }
    let (before, rest) = text.split_once("#### 4. What to implement\n").unwrap();
    let (_, rest) = rest.split_once("#### 5.").unwrap();
    let empty = format!("{before}#### 4. What to implement\n\n#### 5.{rest}");
    let at = line(&empty, "#### 4. What to implement");
    let said = "the prompt of agent A says nothing under `#### 4. What to implement`: write it, or `None.`";
    assert_eq!(problems(&empty), [format!("docs/IMPL.md:{at}:1: {said}")]);
    let twice = text.replacen("#### 5. Tests to write", "#### 4. Again\n\nMore.\n\n#### 5. Tests to write", 1);
    let at = line(&twice, "#### 4. Again");
    assert_eq!(problems(&twice), [format!("docs/IMPL.md:{at}:1: agent A has field 4 twice: keep one of them")]);
    let second = text.replacen("### Agent B - Prompt", "### Agent A - Prompt", 1);
    let at = line(&text, "### Agent B - Prompt");
    assert_eq!(
        problems(&second),
        [format!("docs/IMPL.md:{at}:1: there is a second prompt of agent A: keep one of them")]
    );
}

/// For every broken block: its location in the file, what is there, and what was expected; all at once.
#[test]
fn broken_blocks_are_told_at_their_places() {
    let text = document();
    let broken = text
        .replacen("state: REVIEWED", "state: REVIEWD", 1)
        .replacen("      - agent: B\n        changes", "      - agent: beta\n        changes", 1)
        .replacen("    provided_by: A\n", "    provider: A\n", 1)
        .replacen("## Suitability", "## Verdict", 1);
    let line = |of: &str| 1 + broken.lines().position(|line| line == of).unwrap();
    let found = problems(&broken);
    assert_eq!(found.len(), 4, "{found:#?}");
    let begins = [
        "docs/IMPL.md:1:1: there is no section `## Suitability`: write one".to_owned(),
        format!("docs/IMPL.md:{}:8: `state`: ", line("state: REVIEWD")),
        format!("docs/IMPL.md:{}:16: `waves.agents.agent`: an agent is a capital letter", line("      - agent: beta")),
        format!("docs/IMPL.md:{}:5: `contracts.provider`: ", line("    provider: A")),
    ];
    for (found, begin) in found.iter().zip(begins) {
        assert!(found.starts_with(&begin), "{found}\n{begin}");
    }
    let twice = format!("{text}\n## Status\n");
    let at = twice.lines().count();
    assert_eq!(
        problems(&twice),
        [format!("docs/IMPL.md:{at}:1: there is a second section `## Status`: keep one of them")]
    );
    let (before, rest) = text.split_once("## Status\n\n```yaml\n").unwrap();
    let said = problems(&format!("{before}## Status\n\n{rest}"));
    assert!(
        said[0].ends_with("the section `## Status` has no YAML block: write one, between ```yaml and ```"),
        "{said:?}"
    );
}

/// SAW-16: the orchestrator changes only its own parts: a person's prose, spaces and line ends are unchanged, byte for byte.
#[test]
fn what_a_person_wrote_stays_byte_for_byte() {
    let own = document()
        .replacen(
            "## Waves\n",
            "## Waves\n\nMy  own words, \ttabs and all.   \r\n\n    # no heading\n### Of my own\n",
            1,
        )
        .replacen("## Status\n\n```yaml\n", "## Status\n\nLook here:\n\n````yaml  \n", 1)
        .replacen("waves_verified: 0\n```\n", "waves_verified: 0\n````\n", 1);
    let own = format!("{own}\nA last word\n\n## Mine\n\nNo end");
    let status = Status {
        state: State::Blocked(BlockReason::Contract),
        waves_verified: 1,
        contracts: Some("sha256:00".to_owned()),
        verified_at: Some("1".repeat(40).parse().unwrap()),
        deviations: vec![OpenDeviation {
            by: post().agent,
            description: "`count` gives bytes".to_owned(),
            affects: "C".parse().unwrap(),
            section: "sha256:01".to_owned(),
        }],
    };
    let changed = with_status("IMPL.md", &own, &status).unwrap();
    let (before, after) = own.split_once("state: REVIEWED\nwaves_verified: 0\n").unwrap();
    let now = changed.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)).unwrap();
    assert_eq!(Impl::read("IMPL.md", &changed).unwrap().status, status, "{now}");
    let reported = with_report("IMPL.md", &changed, &post(), &report()).unwrap();
    let (before, after) = changed.split_once("## Mine").unwrap();
    let now = reported.strip_prefix(before).and_then(|rest| rest.strip_suffix(&format!("## Mine{after}"))).unwrap();
    assert!(now.starts_with("### Agent A - Completion Report\n\n```yaml\n") && now.ends_with("```\n\n"), "{now:?}");
    assert_eq!(Impl::read("IMPL.md", &reported).unwrap().status, status);
}

/// SAW-36: every change of the section of contracts changes its hash, and no other change does.
#[test]
fn contracts_are_known_by_their_hash() {
    let text = document();
    let hash = |text: &str| Impl::read("IMPL.md", text).unwrap().contracts_hash;
    assert!(hash(&text).starts_with("sha256:") && hash(&text).len() == 7 + 64);
    let reported = with_report("IMPL.md", &text, &post(), &report()).unwrap();
    assert_eq!(hash(&reported), hash(&text));
    let section = text.split_once("## Interface Contracts\n").unwrap().1.split_once("## Agent Prompts").unwrap().0;
    assert!(section.contains("-> Counts"));
    let changed = text.replacen(section, &section.replace("-> Counts", "-> Count"), 1);
    assert_ne!(hash(&changed), hash(&text));
}
