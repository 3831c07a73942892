//! Options that choose the agents: the same for every graph.

use crate::review::Review;
use crate::support::{Ran, call};
use expect_test::expect;
use interlocking::cli::{Agents, Cli, Start};
use interlocking::prelude::*;
use std::fs;
use tempfile::TempDir;

#[derive(Debug, Clone, clap::Args)]
struct Options {
    #[command(flatten)]
    agents: Agents,
}

/// The program, with a script beside its journal.
struct Program {
    cli: Cli<Review, Options>,
    place: TempDir,
}

impl Program {
    fn new() -> Self {
        let set_up = |options: Options, _: Start| async move { options.agents.bind(Run::new(Review::default())) };
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("tides.toml"), "[[turn]]\nagent = 'draft'\noutput_json = '\"The tide rises.\"'\n")
            .unwrap();
        Self { cli: Cli::new("review", set_up), place }
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.place.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    async fn run(&self, words: &[&str]) -> Ran {
        let words = [&["run", "--run-id", "r1", "--input", "\"tides\"", "--quiet"], words].concat();
        call(&self.cli, &self.place, &words, None).await
    }

    /// The output, without paths.
    async fn page(&self, words: &[&str]) -> String {
        let place = self.place.path().display().to_string();
        let mut ran = self.run(words).await;
        ran.stderr = ran.stderr.replace(&place, "PLACE");
        ran.page()
    }
}

#[tokio::test]
async fn an_option_or_a_file_says_who_plays() {
    for by_file in [false, true] {
        let review = Program::new();
        let script = review.place.path().join("tides.toml").display().to_string();
        let file = review
            .file("agents.toml", "others = 'author'\n[backends.author]\nkind = 'scripted'\nscript = 'tides.toml'\n");
        let option = format!("draft=scripted:{script}");
        let words = if by_file { ["--agents", &file] } else { ["--agent", &option] };
        let ran = review.run(&words).await;
        assert_eq!(ran.exit, 3, "{ran:?}");
        // The option overrides the file: a script that is not used is not read.
        let absent = review.file("absent.toml", "[roles]\ndraft = 'scripted:none.toml'\n");
        let ran = review.run(&["--run-id", "r2", "--agents", &absent, "--agent", &option]).await;
        assert!(ran.exit == 2 && ran.stderr.contains("--run-id"), "two names: {ran:?}");
        let words = ["run", "--input", "\"tides\"", "--quiet", "--agents", &absent, "--agent", &option];
        let ran = call(&review.cli, &review.place, &words, None).await;
        assert_eq!(ran.exit, 3, "{ran:?}");
    }
}

#[tokio::test]
async fn who_cannot_play_is_refused_with_what_to_do() {
    let review = Program::new();
    let wrong = review.file("wrong.toml", "[roles]\ndraft = 'scriptd:tides.toml'\nreader = 'claude'\n");
    let unread = review.file("unread.toml", "[backends.author]\nkind = 'scripted'\nscrpt = 'tides.toml'\n");
    let mut pages = String::new();
    for words in [
        &[][..],
        &["--agent", "drft=scripted:tides.toml"],
        &["--agent", "draft=scripted:none.toml"],
        &["--agent", "draft=scripted"],
        &["--agent", "draft="],
        &["--agents", "none.toml"],
        &["--agents", &wrong],
        &["--agents", &unread],
    ] {
        pages += &review.page(words).await;
    }
    expect![[r#"
        exit 2
        ! error: no agent plays:
        !   `draft`, for node `draft`
        !   to do: say who plays: --agent draft=BACKEND:MODEL, --agent BACKEND for all roles, or a file with --agents
        exit 2
        ! error: there is no role `drft` in the graph: did you mean `draft`?
        !   at: --agent drft=scripted:tides.toml
        exit 2
        ! error: backend `scripted`: none.toml: No such file or directory (os error 2)
        !   at: --agent draft=scripted:none.toml
        exit 2
        ! error: backend `scripted`: it plays no script: write scripted:FILE, or give it a `script`
        !   at: --agent draft=scripted
        exit 2
        ! error: "" names no agent: write BACKEND or BACKEND:MODEL, such as "claude:haiku"
        !   at: --agent draft=
        exit 2
        ! error: No such file or directory (os error 2)
        !   at: none.toml
        exit 2
        ! error: the roles cannot be bound as the options say:
        !   PLACE/wrong.toml:2:9: there is no backend `scriptd`: did you mean `scripted`?
        !   PLACE/wrong.toml:3:10: there is no role `reader` in the graph, only `draft`
        exit 2
        ! error: `backends.author.scrpt`: there is no such field (did you mean `script`?); the fields are `script` and `memory`
        !   at: PLACE/unread.toml:3:1
    "#]]
    .assert_eq(&pages);
}
