//! `cargo interlocking`: begins a project.

#![expect(clippy::print_stderr, reason = "it reports to whoever runs it")]

use cargo_interlocking::{Name, Shape, Source, workspace_around, write};
use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use clap_mangen::Man;
use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Graphs of coding agents whose routes the compiler checks
#[derive(Parser)]
#[command(name = "cargo-interlocking", bin_name = "cargo interlocking", version)]
struct Interlocking {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write a new project: graph, handlers, prompts, a scripted test, and a program with the operator's commands
    New(New),
    /// Print completions of `cargo-interlocking` for a shell
    #[command(
        after_help = "Examples:\n  cargo interlocking completions bash > /etc/bash_completion.d/cargo-interlocking\n\nThey \
        complete `cargo-interlocking new`, which is `cargo interlocking new`; what follows `cargo` is completed by cargo's own."
    )]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the manual page
    #[command(after_help = "Examples:\n  cargo interlocking man | man -l -\n  cargo interlocking man > \
        /usr/local/share/man/man1/cargo-interlocking.1")]
    Man,
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
    let Interlocking { command } = Interlocking::parse_from(words());
    let done = match command {
        Command::New(new) => begin(new),
        Command::Completions { shell } => print(&completions(shell)),
        Command::Man => manual().and_then(|page| print(&page)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// The process's arguments. Cargo runs `cargo interlocking new` as `cargo-interlocking interlocking new`.
fn words() -> Vec<std::ffi::OsString> {
    let mut words: Vec<_> = std::env::args_os().collect();
    if words.get(1).is_some_and(|word| word == "interlocking") {
        words.remove(1);
    }
    words
}

fn begin(new: New) -> Result<(), Box<dyn Error>> {
    let source = new.checkout.map_or(Source::Registry, Source::Checkout);
    let place = write(Path::new(""), &new.name, new.shape, &source)?;
    let around = workspace_around(&place).map_or_else(String::new, |manifest| {
        format!("  First add it to `members` or `exclude` in {}, unless they have it.\n\n", manifest.display())
    });
    let said = format!(
        "{} is written. What to do there:\n\n{around}  \
           cargo test                        # plays demo.toml, without a model\n  \
           cargo run -- run {}\n  \
           cargo run -- --help               # what else the program can do\n",
        place.display(),
        new.shape.demonstration()
    );
    print(said.as_bytes())
}

/// Completions for the program `cargo-interlocking`, as completions for `cargo` would replace cargo's own.
fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(
        shell,
        &mut Interlocking::command().bin_name("cargo-interlocking"),
        "cargo-interlocking",
        &mut script,
    );
    script
}

fn manual() -> Result<Vec<u8>, Box<dyn Error>> {
    let mut command = Interlocking::command().disable_help_subcommand(true);
    command.build();
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    for below in command.get_subcommands() {
        let man = Man::new(below.clone());
        man.render_name_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_options_section(&mut page)?;
        man.render_extra_section(&mut page)?;
    }
    Ok(page)
}

fn print(text: &[u8]) -> Result<(), Box<dyn Error>> {
    let written = std::io::stdout().write_all(text);
    written.map_err(|error| format!("the result could not be written to standard output: {error}").into())
}
