//! Protocols, for agents' prompts.

use interlocking::envoy::{Library, ProtocolName};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let library = Library::discover(Path::new("."));
    println!("{}", library.resolve(&"debugging".parse::<ProtocolName>()?)?);
    Ok(())
}
