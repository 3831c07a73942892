//! What `--help` says, of programs and of their commands, as a stranger reads it.

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
    let commands = page.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<_> = commands.filter_map(|line| line.split([' ', ',']).find(|word| !word.is_empty())).collect();
    let commands: Vec<_> = commands.into_iter().filter(|command| *command != "help").map(str::to_owned).collect();
    for command in commands {
        page += &help(&[&command, "--help"]);
    }
    expect_test::expect_file!["../help.txt"].assert_eq(&page);
}

/// The documentation of the structs that options are taken from stands nowhere in place of what a command does: neither that of
/// the library's, some of which is long, nor that of the program's.
#[tokio::test]
async fn documentation_of_options_is_not_what_a_command_is_for() {
    let set_up = |_: Agents, _: Start| async { Ok(Run::new(Review::new())) };
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
