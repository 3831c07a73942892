//! The same as `runs` with mimalloc as allocator for both sides: `cargo bench -p interlocking-bench --bench runs_mimalloc`.
//!
//! How far apart an allocator places the memory of one run, and in which order it reuses memory, accounts for a good part of
//! the cost of ten thousand runs. mimalloc keeps blocks of one size together, whatever the size.

#[path = "runs.rs"]
mod runs;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    runs::main();
}
