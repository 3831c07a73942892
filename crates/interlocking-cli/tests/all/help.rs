//! The `--help` of programs and of their commands, as a new user reads it.

use crate::help_is_whole::help_is_whole;
use crate::processes::call;
use crate::review::Review;
use crate::support::{self, Program};
use interlocking::cli::{Agents, Cli, Start};
use interlocking::prelude::*;

/// The whole help of `examples/review`: that of the program, then that of each command in its list.
#[test]
fn help_says_what_each_command_does() {
    let directory = tempfile::tempdir().unwrap();
    let help = |words: &[&str]| {
        let (exit, stdout, stderr) = call(directory.path(), words);
        assert_eq!((exit, stderr.as_str()), (Some(0), ""), "{words:?}");
        format!("$ review {}\n{stdout}\n", words.join(" "))
    };
    let mut page = help(&["--help"]);
    let commands = support::commands(&page).into_iter().filter(|command| *command != "help");
    let commands: Vec<_> = commands.map(str::to_owned).collect();
    for command in commands {
        page += &help(&[&command, "--help"]);
    }
    expect_test::expect_file!["../help.txt"].assert_eq(&page);
}

#[test]
fn each_program_says_all_of_itself() {
    let directory = tempfile::tempdir().unwrap();
    help_is_whole(|words| call(directory.path(), words).1);
}

/// A command's help never shows the documentation of the structs from which its options are taken: neither the library's, some
/// of which is long, nor the program's.
#[tokio::test]
async fn documentation_of_options_is_not_what_a_command_is_for() {
    let set_up = |_: Agents, _: Start| async { Ok(Run::new(Review::default())) };
    let place = tempfile::tempdir().unwrap();
    let program = Cli::new("review", set_up).running_by_default();
    let own = Program::new();
    for short in ["--help", "-h"] {
        let starts = |text: &str, start: &str| assert!(text.starts_with(start), "{text}");
        starts(&support::call(&program, &place, &[short], None).await.stdout, "Usage: program [OPTIONS]\n");
        starts(&support::call(&program, &place, &["run", short], None).await.stdout, "Start a run\n\nUsage: ");
        starts(&own.call(&["run", short]).await.stdout, "Start a run\n\nUsage: ");
        starts(&own.call(&["resume", short]).await.stdout, "Resume a run where its journal ends\n\nUsage: ");
    }
}

/// Both list all commands, including those of the program.
#[tokio::test]
async fn completions_and_the_manual_page_have_every_command() {
    let program = Program::new();
    let help = program.call(&["--help"]).await.stdout;
    let manual = program.call(&["man"]).await;
    assert_eq!(manual.exit, 0);
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = program.call(&["completions", shell]).await;
        assert_eq!((script.exit, script.stderr.as_str()), (0, ""));
        for command in support::commands(&help).into_iter().filter(|command| *command != "help") {
            assert!(script.stdout.contains(command), "{shell} completes {command}");
            assert!(manual.stdout.contains(command), "the manual has {command}");
        }
        assert!(script.stdout.contains("max-dollars") && manual.stdout.contains("dollars"), "options too");
    }
    assert!(manual.stdout.starts_with(".ie"), "{}", manual.stdout);
    let refused = program.call(&["completions", "tcsh"]).await;
    assert_eq!(refused.exit, 2);
}
