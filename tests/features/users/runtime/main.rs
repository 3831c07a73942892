//! A run in this process. The feature checks also run this program.

#[path = "../shout.rs"]
mod shout;

use interlocking::prelude::*;
use shout::SHOUT;
use std::error::Error;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let report = Run::new(SHOUT).start("interlocking".to_owned()).await?;
    let heard = report.outcome.finished().ok_or("the run did not finish")?;
    println!("{heard}");
    Ok(())
}
