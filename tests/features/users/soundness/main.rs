//! The check for soundness as a function.

#[path = "../shout.rs"]
mod shout;

use interlocking::prelude::*;
use interlocking::soundness::check;
use shout::{SHOUT, Shout};

fn main() {
    let _ = SHOUT;
    println!("{:?}", check(Shout::net()));
}
