//! `docs/book/src/agents.md` agrees with what the agents report about themselves.

use interlocking_agents::{
    Agent, Capabilities, ClaudeCode, ClaudeSettings, Codex, CodexSettings, Gemini, GeminiSettings, SchemaSupport,
};
#[cfg(feature = "http")]
use interlocking_agents::{HttpModel, HttpSettings};

use crate::common::agent;

const DOCUMENT: &str = include_str!("../../../../docs/book/src/agents.md");

const HEAD: &str = "\
| agent | goes on | forks | schema | files, commands | cost | limits steps | limits money | says what an interrupted call used | confined by a turn's sandbox |
|---|---|---|---|---|---|---|---|---|---|
";

/// The row of the agents that exist only with the feature `http`.
const HTTP: &str = "an HTTP API";

/// Every agent, by its name in the table. A new agent needs a line here and a row in the document.
fn agents() -> Vec<(&'static str, Box<dyn Agent>)> {
    vec![
        ("`scripted`", Box::new(agent(""))),
        ("`claude`", Box::new(ClaudeCode::new(ClaudeSettings::default()))),
        ("`codex`", Box::new(Codex::new(CodexSettings::default()))),
        ("`gemini`", Box::new(Gemini::new(GeminiSettings::default()))),
        #[cfg(feature = "http")]
        (HTTP, Box::new(HttpModel::new(http()))),
    ]
}

#[cfg(feature = "http")]
fn http() -> HttpSettings {
    // `prices` decides whether costs are known.
    HttpSettings { prices: None, ..settings("HTTP APIs") }
}

fn row(name: &str, agent: &dyn Agent) -> String {
    let Capabilities { continues, forks, schemas, works, costs, limits_steps, limits_money, interrupts } =
        agent.capabilities();
    let schema = match schemas {
        SchemaSupport::Enforced => "enforced",
        SchemaSupport::Sent => "sent",
        SchemaSupport::Prompted => "prompted",
    };
    let said = |can: bool| if can { "yes" } else { "no" };
    let cells = [
        name,
        said(continues),
        said(forks),
        schema,
        said(works),
        said(costs),
        said(limits_steps),
        said(limits_money),
        said(interrupts),
        said(agent.confines()),
    ];
    format!("| {} |\n", cells.join(" | "))
}

/// HY-62: the scripted agent and the programs implement one trait, and each reports how it continues, forks and
/// interrupts sessions.
#[test]
fn the_table_of_differences_is_what_agents_say_of_themselves() {
    let rows: String = agents().iter().map(|(name, agent)| row(name, &**agent)).collect();
    let (_, rest) = DOCUMENT.split_once("<!-- capabilities -->\n").unwrap();
    let (table, _) = rest.split_once("<!-- /capabilities -->").unwrap();
    let is_here = |line: &&str| cfg!(feature = "http") || !line.contains(HTTP);
    let table: String = table.lines().filter(is_here).map(|line| format!("{line}\n")).collect();
    let expected = format!("{HEAD}{rows}");
    assert_eq!(table, expected, "docs/book/src/agents.md should have\n{expected}");
}

/// The settings in the example below a heading.
fn settings<T: serde::de::DeserializeOwned>(heading: &str) -> T {
    let (_, section) = DOCUMENT.split_once(&format!("\n## {heading}\n")).unwrap();
    let (_, shown) = section.split_once("```toml\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    toml::from_str(shown).unwrap()
}

#[test]
fn the_settings_that_are_shown_are_settings() {
    assert_eq!(settings::<ClaudeSettings>("Claude Code").model.as_deref(), Some("haiku"));
    assert_eq!(settings::<CodexSettings>("Codex").model.as_deref(), Some("gpt-6-luna"));
    assert_eq!(settings::<GeminiSettings>("Gemini CLI").model.as_deref(), Some("gemini-2.5-flash"));
}

/// The versions that the document calls tested are the ones that are installed for the tests.
#[test]
fn the_versions_that_are_said_to_be_tested_are() {
    let pinned: serde_json::Value =
        serde_json::from_str(include_str!("../../../../tests/programs/package.json")).unwrap();
    for (name, package) in
        [("claude", "@anthropic-ai/claude-code"), ("codex", "@openai/codex"), ("gemini", "@google/gemini-cli")]
    {
        let version = pinned["dependencies"][package].as_str().unwrap();
        let row = DOCUMENT.lines().find(|line| line.starts_with(&format!("| `{name}` |"))).unwrap();
        assert!(row.ends_with(&format!("| {version} |")), "{row}");
    }
}
