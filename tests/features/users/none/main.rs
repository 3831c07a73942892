//! The derive, the table and the frontier alone.

#[path = "../shout.rs"]
mod shout;

use interlocking::draw::mermaid;
use interlocking::prelude::*;
use shout::{SHOUT, Shout};

fn main() {
    let Shout { shout: LogicNode(_), shorten: LogicNode(_) } = SHOUT;
    println!("{}", mermaid(Shout::net().table()));
}
