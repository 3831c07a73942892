//! The Hybrid protocol.
fn main() {}
