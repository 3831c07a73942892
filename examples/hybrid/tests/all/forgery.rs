//! Implementations that do nothing of what they should and would have the tests say otherwise.

use crate::play::Play;
use crate::stage::Stage;
use hybrid::demo::Scenario;

/// The harness's own lines for every test, and then the end, whatever is called.
const PRINTS_THE_VERDICTS: &str = r#"
use std::io::Write;

fn forge() -> ! {
    let this = std::env::current_exe().unwrap();
    let listed = std::process::Command::new(this).arg("--list").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let names: Vec<&str> = listed.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    let mut text = String::new();
    for name in &names {
        text.push_str(&format!("test {name} ... ok\n"));
    }
    let passed = names.len();
    text.push_str(&format!("\ntest result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\n"));
    std::io::stdout().write_all(text.as_bytes()).unwrap();
    std::process::exit(0)
}

static ONCE: std::sync::Once = std::sync::Once::new();
"#;

/// The demonstration's implementation with every body replaced, and with this before it.
fn implementation(prelude: &str, body: &str) -> String {
    format!(
        "//! A stack.\n{prelude}\n\
         /// A stack.\n#[derive(Debug, Clone, PartialEq, Eq)]\npub struct BoundedStack;\n\n\
         /// Full.\n#[derive(Debug, Clone, Copy, PartialEq, Eq)]\npub struct Full(pub i64);\n\n\
         impl BoundedStack {{\n\
         pub fn with_capacity(_: usize) -> Self {{ {body} }}\n\
         pub fn push(&mut self, _: i64) -> Result<(), Full> {{ {body} }}\n\
         pub fn pop(&mut self) -> Option<i64> {{ {body} }}\n\
         pub fn peek(&self) -> Option<i64> {{ {body} }}\n\
         pub fn height(&self) -> usize {{ {body} }}\n}}\n"
    )
}

/// It writes what the harness would write, and ends the test program with success.
#[tokio::test(flavor = "multi_thread")]
async fn an_implementation_that_prints_its_verdicts_does_not_land() {
    let forged = implementation(PRINTS_THE_VERDICTS, "ONCE.call_once(|| forge()); unreachable!()");
    let play = Play::of(Scenario::Happy).with("impl", |turn| *turn.file() = forged);
    let stage = Stage::new(play).await;
    let ended = stage.run().await;
    let (_, failure) = stage.assert_not_landed(&ended);
    eprintln!("{failure}");
}
