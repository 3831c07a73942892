//! Text of agents, people and journals reaches a terminal as text only.

use crate::review::Review;
use crate::support::{Ink, Ran, call};
use interlocking::agents::{Script, ScriptedAgent};
use interlocking::cli::{Cli, Start};
use interlocking::prelude::*;
use std::sync::Arc;

/// It clears the screen, by an escape and by a control character of eight bits, goes back, and shows the rest from right to left.
const HOSTILE: &str = "\u{1b}[2J\u{9b}2J\r\u{8}\u{202e}mar";

fn assert_harmless(words: &[&str], ran: &Ran) {
    for character in (ran.stdout.clone() + &ran.stderr).chars() {
        let is_layout = matches!(character, '\n' | '\t');
        assert!(is_layout || !character.is_control() && character != '\u{202e}', "{words:?}: {ran:?}");
    }
}

#[tokio::test]
async fn nothing_that_steers_a_terminal_is_printed() {
    let place = tempfile::tempdir().unwrap();
    let output = serde_json::to_string(&serde_json::to_string(HOSTILE).unwrap()).unwrap();
    let failure = serde_json::to_string(HOSTILE).unwrap();
    // JSON's escapes are TOML's, too.
    let script = format!("[[turn]]\noutput_json = {output}\n[[turn]]\nfail = 'crash'\ntext = {failure}\n");
    let agent = Arc::new(ScriptedAgent::new(Script::parse("hostile", &script).unwrap()));
    let set_up = move |_: Ink, _: Start| {
        let agent = agent.clone();
        async move { Ok(Run::new(Review::default()).with_agent("draft", agent)) }
    };
    let cli = Cli::new("review", set_up);
    let input = serde_json::to_string(HOSTILE).unwrap();
    let answer = format!("{{\"approved\": true, \"{HOSTILE}\": 1}}");
    let run = format!("r{HOSTILE}");
    for words in [
        &["run", "--run-id", "r1", "--input", &input][..],
        &["run", "--run-id", "r2", "--input", &input],
        &["run", "--run-id", "r3", "--input", HOSTILE],
        &["show", "r1"],
        &["show", "r1", "--json"],
        &["show", "r2"],
        &["show", "r2", "--json"],
        &["show", &run],
        &["show", &run, "--json"],
        &["list"],
        &["answer", "r1"],
        &["answer", "r1", HOSTILE],
        &["answer", "r1", &answer],
        &["fork", "r2", "--before", HOSTILE],
        &[HOSTILE],
    ] {
        let ran = call(&cli, &place, words, None).await;
        assert_harmless(words, &ran);
        assert!(!ran.stdout.is_empty() || !ran.stderr.is_empty(), "{words:?}");
    }
    // As data it is unchanged.
    let shown = call(&cli, &place, &["show", "r1", "--json"], None).await.json();
    assert_eq!(shown["executions"][1]["question"]["question"]["draft"], HOSTILE);
}
