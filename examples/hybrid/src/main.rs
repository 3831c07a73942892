//! Runs the Hybrid protocol.

fn main() {}
