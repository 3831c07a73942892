//! `docs/agents.md` says what the agents say of themselves.

use interlocking_agents::{Agent, Capabilities, Codex, CodexSettings, SchemaSupport};

use crate::common::agent;

const DOCUMENT: &str = include_str!("../../../../docs/agents.md");

const HEAD: &str = "\
| agent | goes on | forks | schema | files, commands | cost | limits steps | limits money | says what an interrupted call used | confined by a turn's sandbox |
|---|---|---|---|---|---|---|---|---|---|
";

/// Every agent that there is; another one is another line here, and its row in the document.
fn agents() -> Vec<Box<dyn Agent>> {
    vec![Box::new(agent("")), Box::new(Codex::new(CodexSettings::default()))]
}

fn row(agent: &dyn Agent) -> String {
    let Capabilities { continues, forks, schemas, works, costs, limits_steps, limits_money, interrupts } =
        agent.capabilities();
    let schema = match schemas {
        SchemaSupport::Enforced => "enforced",
        SchemaSupport::Sent => "sent",
        SchemaSupport::Prompted => "prompted",
    };
    let said = |can: bool| if can { "yes" } else { "no" };
    let cells = [
        &format!("`{}`", agent.name()),
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

#[test]
fn the_table_of_differences_is_what_agents_say_of_themselves() {
    let rows: String = agents().iter().map(|agent| row(&**agent)).collect();
    let (_, rest) = DOCUMENT.split_once("<!-- capabilities -->\n").unwrap();
    let (table, _) = rest.split_once("<!-- /capabilities -->").unwrap();
    let expected = format!("{HEAD}{rows}");
    assert_eq!(table, expected, "docs/agents.md should have\n{expected}");
}

/// Settings that are shown can be read.
#[test]
fn the_settings_that_are_shown_are_settings() {
    let (_, codex) = DOCUMENT.split_once("\n## Codex\n").unwrap();
    let (_, shown) = codex.split_once("```toml\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    let settings: CodexSettings = toml::from_str(shown).unwrap();
    assert_eq!(settings.model.as_deref(), Some("gpt-6-luna"));
}
