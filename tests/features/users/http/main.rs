//! A model over HTTP, in a role of a graph.

#[path = "../shout.rs"]
mod shout;

use interlocking::agents::{HttpModel, HttpProvider, HttpSettings};
use interlocking::prelude::*;
use shout::SHOUT;
use std::error::Error;
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = HttpModel::new(HttpSettings::new(HttpProvider::Anthropic, "claude-haiku-4-5"));
    let report = Run::new(SHOUT).with_agent("writer", Arc::new(model)).start("signal".to_owned()).await?;
    println!("{:?}", report.outcome.finished());
    Ok(())
}
