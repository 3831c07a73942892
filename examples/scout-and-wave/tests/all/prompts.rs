//! Prompts as they are rendered.

use crate::reports::post;
use crate::suitability::{files, plan};
use askama::Template;
use expect_test::expect_file;
use interlocking::graph::Graph as _;
use interlocking::toolchain::CommandLine;
use interlocking::workspaces::FilePath;
use scout_and_wave::document::{Impl, planned};
use scout_and_wave::graph::{Assignment, ScoutAndWave};
use scout_and_wave::prompts::{AgentLaunch, ArchitectPrompt, Preflight, QuickPrompt, ScoutPrompt, Skill};
use scout_and_wave::protocol::plan::Command;
use scout_and_wave::protocol::quick::QuickAgent;
use scout_and_wave::protocol::suitability::judge;
use scout_and_wave::quick::QuickAssignment;
use scout_and_wave::request::Brief;
use std::path::Path;

fn is_tidy(text: &str) {
    assert!(!text.contains("\n\n\n"), "more than one blank line in a row");
    assert!(!text.lines().any(|line| line.ends_with(' ')), "a line ends with a space");
}

/// SAW-97.
#[test]
fn the_scout_is_told_what_must_hold() {
    let text =
        ScoutPrompt { brief: &Brief::new("Statistics of texts.".to_owned()), commands: commands() }.render().unwrap();
    expect_file!["../golden/scout.md"].assert_eq(&text);
    is_tidy(&text);
}

/// SAW-98: the agent's place first, then its section.
#[test]
fn an_agent_is_told_where_it_is_and_what_its_section_says() {
    let text = planned(&plan(), None, &judge(&plan(), &files())).unwrap();
    let read = Impl::read("IMPL.md", &text).unwrap();
    let (_, section) = read.prompt(&post().agent).unwrap();
    let assignment = Assignment {
        post: post(),
        generation: 1,
        wave_size: 2,
        base: "0".repeat(40).parse().unwrap(),
        document: FilePath::new("docs/IMPL-stats.md").unwrap(),
        section: section.clone(),
        kept: None,
    };
    let preflight = Preflight::new(Path::new("/runs/r1/wave1-agent-a/tree"), &post().label());
    let prompt = AgentLaunch { assignment: &assignment, preflight }.render().unwrap();
    expect_file!["../golden/agent.md"].assert_eq(&prompt);
    is_tidy(&prompt);
    assert!(prompt.contains(section));
}

/// SAW-95, SAW-103: the scout of an empty project is its architect: requirements, packages and contracts first, and wave 0 for
/// the types.
#[test]
fn the_architect_is_told_what_comes_first() {
    let mut brief = Brief::new("A calculator.".to_owned());
    brief.remarks.push("Without floating point.".to_owned());
    let text = ArchitectPrompt { brief: &brief, commands: commands() }.render().unwrap();
    expect_file!["../golden/architect.md"].assert_eq(&text);
    is_tidy(&text);
    let places = ["**Requirements.**", "**Packages.**", "**Contracts.**", "**Wave 0 has one agent.**"]
        .map(|part| text.find(part).unwrap());
    assert!(places.is_sorted());
}

/// SAW-91, SAW-102: three fields, and the agent's place.
#[test]
fn an_agent_of_quick_mode_is_told_three_things() {
    let told = QuickAgent {
        files: vec![FilePath::new("a.txt").unwrap(), FilePath::new("b.txt").unwrap()],
        task: "Write <both> & no more.".to_owned(),
        verification: vec![Command(CommandLine::new("true", &["--all"]))],
    };
    let assignment = QuickAssignment { agent: "A".parse().unwrap(), told };
    let preflight = Preflight::new(Path::new("/runs/r1/quick-agent-a/tree"), "quick-agent-a");
    let text = QuickPrompt { assignment: &assignment, preflight }.render().unwrap();
    expect_file!["../golden/quick.md"].assert_eq(&text);
    is_tidy(&text);
    let headings: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(headings, ["Files", "Task", "Verification"]);
}

/// SAW-99, SAW-100, SAW-101: the skill names every state and the program's commands, and its merge procedure is that of the
/// table.
#[test]
fn the_orchestrators_skill_is_the_programs() {
    let text = Skill::of_program("scout-and-wave").to_string();
    expect_file!["../golden/skill.md"].assert_eq(&text);
    is_tidy(&text);
    let steps: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | ")).collect();
    let nodes = &ScoutAndWave::net().table().nodes;
    let procedure: Vec<_> =
        steps.iter().map(|(name, _)| *name).filter(|name| nodes.iter().any(|row| row.name == *name)).collect();
    assert_eq!(procedure, ["predict", "merge", "append", "verify", "verified"]);
    for pair in procedure.windows(2) {
        let row = nodes.iter().find(|row| row.name == pair[0]).unwrap();
        assert!(row.goto.iter().any(|goto| goto.to.to_string() == pair[1]), "{pair:?}");
    }
}

fn commands() -> Vec<String> {
    vec!["cargo build".to_owned(), "cargo test".to_owned()]
}
