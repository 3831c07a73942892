//! A transition in the executor beside the hand-written loop with the same services: `cargo bench -p interlocking-bench`.

#![expect(clippy::print_stdout, reason = "a benchmark reports to whoever runs it")]

fn main() {
    println!("see below");
}
