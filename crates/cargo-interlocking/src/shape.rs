//! The shapes of projects, and their files.

use clap::ValueEnum;

/// The graph with which a project begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shape {
    /// One agent after the other, and a review that sends back what has faults
    Chain,
    /// Three agents answer at once, and a judge chooses
    FanOut,
    /// An agent writes, and a person approves
    Approval,
    /// Two agents, each in a clone of the repository, who cannot read each other's work
    BlindPair,
    /// A plan of tasks, done side by side in worktrees, wave by wave
    Waves,
}

/// A file of a project: its path and its contents.
pub(crate) type File = (&'static str, &'static str);

/// The files of `templates/SHAPE`.
macro_rules! files {
    ($shape:literal: $($path:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("../templates/", $shape, "/", $path)))),+]
    };
}

/// The manifest of a project without a git repository.
const PLAIN: &str = include_str!("../templates/common/plain.toml");
/// The manifest of a project whose agents write to a git repository.
const REPOSITORY: &str = include_str!("../templates/common/repository.toml");

impl Shape {
    /// The arguments of `cargo run -- run` that start the demonstration.
    pub fn demonstration(self) -> &'static str {
        match self {
            Self::Chain => "tides --agent scripted:demo.toml",
            Self::FanOut => "'What makes the tides?' --agent scripted:demo.toml",
            Self::Approval => "'the tides' --run-id r1 --agent scripted:demo.toml",
            Self::BlindPair | Self::Waves => "'a greeting' --repo REPOSITORY --script demo.toml",
        }
    }

    pub(crate) fn manifest(self) -> &'static str {
        match self {
            Self::Chain | Self::FanOut | Self::Approval => PLAIN,
            Self::BlindPair | Self::Waves => REPOSITORY,
        }
    }

    pub(crate) fn files(self) -> &'static [File] {
        match self {
            Self::Chain => files!(
                "chain": "src/lib.rs", "src/graph.rs", "src/handlers.rs", "src/main.rs", "templates/outline.txt",
                "templates/draft.txt", "templates/review.txt", "demo.toml", "tests/demo.rs",
            ),
            Self::FanOut => files!(
                "fan-out": "src/lib.rs", "src/graph.rs", "src/handlers.rs", "src/main.rs", "templates/answer.txt",
                "templates/judge.txt", "demo.toml", "tests/demo.rs",
            ),
            Self::Approval => files!(
                "approval": "src/lib.rs", "src/graph.rs", "src/handlers.rs", "src/main.rs", "templates/write.txt",
                "demo.toml", "tests/demo.rs",
            ),
            Self::BlindPair => files!(
                "blind-pair": "src/lib.rs", "src/graph.rs", "src/handlers.rs", "src/main.rs", "templates/order.txt",
                "demo.toml", "tests/demo.rs",
            ),
            Self::Waves => files!(
                "waves": "src/lib.rs", "src/graph.rs", "src/handlers.rs", "src/main.rs", "templates/plan.txt",
                "templates/work.txt", "demo.toml", "tests/demo.rs",
            ),
        }
    }
}
