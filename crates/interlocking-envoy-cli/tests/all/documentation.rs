//! Checks the documentation.

use crate::help_is_whole::help_is_whole;
use crate::support::Project;
use envoy::Exit;
use interlocking_envoy::EMBEDDED;
use std::collections::BTreeSet;

const PAGE: &str = include_str!("../../../../docs/book/src/envoy.md");

#[test]
fn every_exit_code_is_documented() {
    let help = Project::new().call(&["--help"]).stdout;
    for exit in Exit::ALL {
        let row = format!("| {} | {} |", exit.code(), exit.meaning());
        assert!(PAGE.contains(&row), "docs/book/src/envoy.md lacks {row:?}");
        assert!(help.contains(exit.meaning()));
    }
}

/// The complete help, as a new user reads it: of the program, then of each command.
#[test]
fn help_says_what_each_command_does() {
    fn add(words: &[&str], command: &clap::Command, page: &mut String) {
        let called = Project::new().call(&[words, &["--help"]].concat());
        assert_eq!((called.exit, called.stderr.as_str()), (0, ""), "{words:?}");
        *page += &format!("$ envoy {}\n{}\n", [words, &["--help"]].concat().join(" "), called.stdout);
        for below in command.get_subcommands() {
            add(&[words, &[below.get_name()]].concat(), below, page);
        }
    }
    let mut page = String::new();
    add(&[], &envoy::command(), &mut page);
    expect_test::expect_file!["../help.txt"].assert_eq(&page);
}

#[test]
fn the_program_says_all_of_itself() {
    help_is_whole(|words| Project::new().call(words).stdout);
}

/// ENV-91: the documentation's list has every command that a protocol names, and whether this program has it; and the list
/// has no others.
#[test]
fn every_command_of_the_protocols_is_listed() {
    let mut named = BTreeSet::new();
    for (_, text) in EMBEDDED {
        for (at, _) in text.match_indices("`envoy ") {
            let words = text[at + 1..].split(['`', '\n']).next().unwrap().split(' ');
            let is_name = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
            named.insert(words.take_while(is_name).collect::<Vec<_>>().join(" "));
        }
    }
    named.remove("envoy plan");
    let listed: BTreeSet<String> = PAGE
        .lines()
        .filter_map(|line| line.strip_prefix("| `envoy "))
        .filter(|line| line.ends_with("| here |") || line.ends_with("| elsewhere |"))
        .map(|line| format!("envoy {}", line.split('`').next().unwrap()))
        .collect();
    assert_eq!(named, listed);
    for line in PAGE.lines().filter(|line| line.ends_with("| here |")) {
        let words: Vec<_> = line.split('`').nth(1).unwrap().split(' ').skip(1).chain(["--help"]).collect();
        assert_eq!(Project::new().call(&words).exit, 0, "{line}");
    }
    let elsewhere = PAGE.lines().filter(|line| line.ends_with("| elsewhere |"));
    for line in elsewhere {
        let words: Vec<_> = line.split('`').nth(1).unwrap().split(' ').skip(1).collect();
        assert_eq!(Project::new().call(&words).exit, 2, "{line}");
    }
}

/// Completions and the manual are generated from the command line itself.
#[test]
fn completions_and_the_manual_know_every_command() {
    let project = Project::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let called = project.call(&["completions", shell]);
        assert_eq!(called.exit, 0);
        for word in ["protocol", "cleanup-debug-logs", "block-prompt-variants-gate", "dry-run"] {
            assert!(called.stdout.contains(word), "{shell} lacks {word}");
        }
    }
    let manual = project.call(&["man"]).stdout.replace("\\-", "-");
    for word in ["envoy plan cleanup-debug-logs", "envoy-protocol", "--dry-run", "Exit codes:", "--decision"] {
        assert!(manual.contains(word), "the manual lacks {word}: {manual}");
    }
}
