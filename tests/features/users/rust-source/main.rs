//! A check of Rust source.

use interlocking::rust_source::{StubMarkers, public_functions};

fn main() {
    let functions = public_functions("src/lib.rs", "pub fn push() { todo!() }", &StubMarkers::default());
    assert!(functions.is_ok_and(|functions| functions[0].is_stub == Some(true)));
}
