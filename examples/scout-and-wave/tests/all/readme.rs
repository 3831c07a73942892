//! The files that the README shows are read as they are shown.

use interlocking::document::markdown;
use interlocking::document::{Document, Source};
use interlocking::toolchain::Toolchain;
use scout_and_wave::protocol::quick::QuickPlan;
use serde::de::DeserializeOwned;

const README: &str = include_str!("../../README.md");

fn read<T: DeserializeOwned>(text: &str) -> T {
    let document = Document::yaml(Source::new("README.md", text)).unwrap();
    document.read(|root, problems| root.read::<T>(problems)).unwrap()
}

/// TC-23: a toolchain for each of these, by configuration only.
#[test]
fn toolchains_and_declarations_are_read() {
    let blocks: Vec<_> = markdown::blocks(README).into_iter().filter(|block| block.language == "yaml").collect();
    let [quick, toolchains @ ..] = &blocks[..] else { panic!("there is no declaration") };
    assert_eq!(read::<QuickPlan>(quick.content).problems(), []);
    let programs: Vec<_> =
        toolchains.iter().map(|block| read::<Toolchain>(block.content).test_command.program().to_owned()).collect();
    assert_eq!(programs, ["cargo", "npm", "pytest", "go"]);
}
