//! A program with the operator's commands.

#[path = "../shout.rs"]
mod shout;

use interlocking::cli::{Cli, NoArguments};
use interlocking::prelude::*;
use shout::SHOUT;
use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    Cli::new("shout", |_: NoArguments, _| async { Ok(Run::new(SHOUT)) }).main().await
}
