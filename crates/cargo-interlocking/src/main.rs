//! `cargo interlocking`: begins a project.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it reports to whoever runs it")]

use cargo_interlocking::{Name, Shape, Source, write};
use clap::{Args, Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// As cargo starts it: `cargo interlocking new` is `cargo-interlocking interlocking new`.
#[derive(Parser)]
#[command(bin_name = "cargo", version)]
enum Cargo {
    /// Graphs of coding agents whose routes the compiler checks
    Interlocking(Interlocking),
}

#[derive(Args)]
struct Interlocking {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write a new project: graph, handlers, prompts, a scripted test, and a program with the operator's commands
    New(New),
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  cargo interlocking new newsroom\n  cargo interlocking new review --shape approval"
)]
struct New {
    /// What it is called; a directory of that name is made here
    name: Name,

    /// What graph it begins with
    #[arg(long, value_enum, default_value_t = Shape::Chain)]
    shape: Shape,

    /// Depend on this checkout of Interlocking, in place of crates.io
    #[arg(long, value_name = "DIR")]
    checkout: Option<PathBuf>,
}

fn main() -> ExitCode {
    let Cargo::Interlocking(Interlocking { command: Command::New(new) }) = Cargo::parse();
    let source = new.checkout.map_or(Source::Registry, Source::Checkout);
    match write(Path::new(""), &new.name, new.shape, &source) {
        Ok(place) => {
            println!("{} is written. What to do there:\n", place.display());
            println!("  cargo test                        # plays demo.toml, without a model");
            println!("  cargo run -- run {}", new.shape.demonstration());
            println!("  cargo run -- --help               # what else the program can do");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
