//! Prompts as they are rendered.

use crate::reports::post;
use crate::suitability::{files, plan};
use askama::Template;
use expect_test::expect_file;
use scout_and_wave::document::{Impl, planned};
use scout_and_wave::graph::{Assignment, Request};
use scout_and_wave::prompts::{AgentLaunch, Preflight, ScoutPrompt};
use scout_and_wave::protocol::path::FilePath;
use scout_and_wave::protocol::suitability::judge;
use std::path::Path;

fn is_tidy(text: &str) {
    assert!(!text.contains("\n\n\n"), "more than one blank line in a row");
    assert!(!text.lines().any(|line| line.ends_with(' ')), "a line ends with a space");
}

/// SAW-97.
#[test]
fn the_scout_is_told_what_must_hold() {
    let document = FilePath::new("docs/IMPL-stats.md").unwrap();
    let text =
        ScoutPrompt { request: &Request { task: "Statistics of texts.".to_owned(), document } }.render().unwrap();
    expect_file!["../golden/scout.md"].assert_eq(&text);
    is_tidy(&text);
}

/// SAW-98: where the agent has to be, and then its section.
#[test]
fn an_agent_is_told_where_it_is_and_what_its_section_says() {
    let text = planned(&plan(), &judge(&plan(), &files())).unwrap();
    let read = Impl::read("IMPL.md", &text).unwrap();
    let (_, section) = read.prompt(&post().agent).unwrap();
    let assignment = Assignment {
        post: post(),
        generation: 1,
        wave_size: 2,
        base: "0".repeat(40).parse().unwrap(),
        document: FilePath::new("docs/IMPL-stats.md").unwrap(),
        section: section.clone(),
    };
    let preflight = Preflight::new(Path::new("/runs/r1/wave1-agent-a/tree"), &post());
    let prompt = AgentLaunch { assignment: &assignment, preflight }.render().unwrap();
    expect_file!["../golden/agent.md"].assert_eq(&prompt);
    is_tidy(&prompt);
    assert!(prompt.contains(section));
}
