//! The parts of a program's help besides its options: the commands in groups, and examples.

use clap::Command;

/// The headings of the help and their commands. Commands that are in no group are the program's own.
const GROUPS: [(&str, &[&str]); 3] = [
    ("Runs", &["run", "resume", "answer", "fork", "cancel"]),
    ("What runs did", &["list", "show", "prune"]),
    ("This program", &["graph", "completions", "man", "help"]),
];

/// Examples for each command, without the program's name in front.
const EXAMPLES: [(&str, &[&str]); 11] = [
    ("run", &["run --run-id r1 …", "run --max-dollars 2.50 --max-time 90m …"]),
    ("resume", &["resume r1", "resume r1 --max-dollars 5", "resume r1 --retry"]),
    ("list", &["list", "list --state waiting"]),
    ("show", &["show r1", "show r1 --json"]),
    ("answer", &["answer r1 '{\"approved\": true}'", "answer r1 --question approve.2 --file answer.json"]),
    ("fork", &["fork r1 --before review.2", "fork r1 --run-id r2"]),
    ("cancel", &["cancel r1"]),
    ("graph", &["graph", "graph dot"]),
    ("prune", &["prune --older-than 30d --keep-last 20 --dry-run"]),
    ("completions", &["completions bash > /etc/bash_completion.d/PROGRAM"]),
    ("man", &["man | man -l -", "man > /usr/local/share/man/man1/PROGRAM.1"]),
];

/// Lists the commands in the help by group, each with its description, instead of in clap's single list.
pub(crate) fn grouped(command: Command) -> Command {
    let listed: Vec<(String, String)> = command.get_subcommands().map(listed).collect();
    let help = ("help".to_owned(), "Print this message or the help of a command".to_owned());
    let listed: Vec<_> = listed.into_iter().chain([help]).collect();
    let width = listed.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let line = |(name, is_for): &(String, String)| format!("\n  {name:<width$}  {is_for}");
    let is_in = |names: &[&str], listed: &(String, String)| names.iter().any(|name| first_word(&listed.0) == *name);
    let mut text = String::new();
    let own = listed.iter().filter(|listed| !GROUPS.iter().any(|(_, names)| is_in(names, listed)));
    let groups = GROUPS.iter().map(|(heading, names)| {
        let lines = listed.iter().filter(|listed| is_in(names, listed));
        (*heading, lines.map(line).collect::<String>())
    });
    let own = ("Of this graph", own.map(line).collect::<String>());
    for (heading, lines) in groups.chain([own]).filter(|(_, lines)| !lines.is_empty()) {
        text.push_str(&format!("{heading}:{lines}\n\n"));
    }
    let positionals = if command.get_positionals().next().is_some() { "Arguments:\n{positionals}\n\n" } else { "" };
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}{positionals}Options:\n{{options}}{{after-help}}"
    ))
}

/// A command's name, with its long flag if it has one, and its description.
fn listed(command: &Command) -> (String, String) {
    let flag = command.get_long_flag().map(|flag| format!(", --{flag}")).unwrap_or_default();
    (format!("{}{flag}", command.get_name()), command.get_about().map(ToString::to_string).unwrap_or_default())
}

fn first_word(name: &str) -> &str {
    name.split(',').next().unwrap_or_default()
}

/// The examples of a command of program `program`, as the end of its help.
pub(crate) fn examples(command: &str, program: &str) -> Option<String> {
    let (_, examples) = EXAMPLES.iter().find(|(name, _)| *name == command)?;
    let lines = examples.iter().map(|example| format!("\n  {program} {}", example.replace("PROGRAM", program)));
    Some(format!("Examples:{}", lines.collect::<String>()))
}
