//! Prints statistics of a text.

use std::io::Read;
use textstats::{count::count, frequency::frequency, longest::longest, report::report};

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    print!("{}", report(&count(&text), &frequency(&text)));
    println!("longest: {}", longest(&text).unwrap_or("none"));
    Ok(())
}
