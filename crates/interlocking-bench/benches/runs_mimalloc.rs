//! The same as `runs` where mimalloc gives both sides their memory: `cargo bench -p interlocking-bench --bench runs_mimalloc`.
//!
//! How far apart an allocator puts what one run holds, and in which order it gives that out again, is a good part of what ten
//! thousand runs cost. This one keeps blocks of one size together, whatever the size.

#[path = "runs.rs"]
mod runs;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    runs::main();
}
