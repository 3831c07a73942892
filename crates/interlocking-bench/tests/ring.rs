//! The committed ring is the one that the generator writes.

#[test]
fn the_ring_is_as_it_is_written() {
    let committed = include_str!("../src/ring100.rs");
    let written = interlocking_bench::ring::source(100);
    assert!(committed == written, "write `ring100.rs` again: its first lines say how");
}
