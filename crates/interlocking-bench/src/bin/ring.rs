//! Prints the source of `ring100.rs`.

#![expect(clippy::print_stdout, reason = "what it prints is its result")]

fn main() {
    print!("{}", interlocking_bench::ring::source(100));
}
