//! The routing tables as data, and as a drawing.

use expect_test::expect_file;
use interlocking::draw::mermaid;
use interlocking::graph::Graph as _;
use scout_and_wave::graph::{Agent, ScoutAndWave};
use scout_and_wave::quick::QuickWorker;

held!(ScoutAndWave, Agent, QuickWorker);

/// SAW-104: the protocol is a graph in the same language: scout, a person's gate, a loop of waves, concurrent agents.
#[test]
fn it_can_be_drawn() {
    expect_file!["../golden/scout_and_wave.mmd"].assert_eq(&mermaid(ScoutAndWave::net().table()));
    expect_file!["../golden/agent.mmd"].assert_eq(&mermaid(Agent::net().table()));
}

/// SAW-02: the scout may not write, whatever its prompt says, and no other node works in its place.
#[test]
fn the_scout_may_only_read() {
    let rows = &ScoutAndWave::net().table().nodes;
    let scouts: Vec<_> = rows.iter().filter(|row| row.agent.as_deref() == Some("scout")).collect();
    assert_eq!(scouts.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["check", "scout", "architect"]);
    assert!(scouts.iter().all(|row| row.read_only && row.workspace == scouts[0].workspace));
    let shares_its_place = |row: &&interlocking::table::NodeRow| row.workspace == scouts[0].workspace;
    assert_eq!(rows.iter().filter(shares_its_place).count(), scouts.len(), "it takes part in nothing else");
}
