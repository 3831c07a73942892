//! A test of every route.

#[path = "../shout.rs"]
mod shout;

use interlocking::prelude::*;
use interlocking::testing::Enumerator;
use shout::SHOUT;

fn main() {
    Enumerator::new(|_| (Run::new(SHOUT), "interlocking".to_owned())).explore().assert_all_routes();
}
