//! One process that executes the run, as its only argument says: an [`Order`] in JSON. It says what came of it on its
//! standard output, as an [`Ending`](interlocking_crash::order::Ending) in JSON, unless it dies before.

use interlocking::prelude::NodeError;
use interlocking_crash::order::Order;
use std::io::Write;

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), NodeError> {
    let order = std::env::args().nth(1).ok_or("say what to do, as JSON")?;
    let order: Order = serde_json::from_str(&order)?;
    let ending = interlocking_crash::process::execute(order).await?;
    Ok(writeln!(std::io::stdout(), "{}", serde_json::to_string(&ending)?)?)
}
