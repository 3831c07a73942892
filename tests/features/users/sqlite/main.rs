//! A run that outlives its process.

#[path = "../shout.rs"]
mod shout;

use interlocking::prelude::*;
use interlocking::sqlite::SqliteJournal;
use shout::SHOUT;
use std::error::Error;
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let journal = SqliteJournal::open("journal")?;
    let report = Run::new(SHOUT).with_journal(Arc::new(journal)).start("signal".to_owned()).await?;
    println!("{:?}", report.outcome.finished());
    Ok(())
}
