//! One process that executes the run. Its only argument is an [`Order`] in JSON. It writes an [`Ending`] in JSON to
//! its standard output, unless it dies before.

use interlocking::prelude::NodeError;
use interlocking_crash::order::{Ending, Order};
use std::io::Write;
use std::process::ExitCode;

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<ExitCode, std::io::Error> {
    match carry_out().await {
        Ok(ending) => {
            writeln!(std::io::stdout(), "{}", serde_json::to_string(&ending)?)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            writeln!(std::io::stderr(), "{error}")?;
            Ok(ExitCode::FAILURE)
        }
    }
}

async fn carry_out() -> Result<Ending, NodeError> {
    let order = std::env::args().nth(1).ok_or("say what to do, as JSON")?;
    let order: Order = serde_json::from_str(&order)?;
    interlocking_crash::process::execute(order).await
}
