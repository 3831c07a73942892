//! The routing tables as data, and as a drawing.

use expect_test::expect_file;
use interlocking::draw::mermaid;
use interlocking::graph::Graph as _;
use scout_and_wave::graph::{Agent, ScoutAndWave};

held!(ScoutAndWave, Agent);

/// SAW-104: the protocol is a graph in the same language: scout, a person's gate, a loop of waves, agents side by side.
#[test]
fn it_can_be_drawn() {
    expect_file!["../golden/scout_and_wave.mmd"].assert_eq(&mermaid(ScoutAndWave::net().table()));
    expect_file!["../golden/agent.mmd"].assert_eq(&mermaid(Agent::net().table()));
}

/// SAW-02: the scout may not write.
#[test]
fn the_scout_may_only_read() {
    let rows = &ScoutAndWave::net().table().nodes;
    let scout = rows.iter().find(|row| row.name == "scout").unwrap();
    assert!(scout.read_only && scout.entry);
    let shares_its_place = |row: &&interlocking::table::NodeRow| row.workspace == scout.workspace;
    assert_eq!(rows.iter().filter(shares_its_place).count(), 1, "it takes part in nothing else");
}
