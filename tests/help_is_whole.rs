//! Checks the help of a program: groups if there are many commands, examples for each command, completions and a manual page. For
//! the tests of every program with commands.

/// Checks a program; `call` gives its output for some arguments.
pub(crate) fn help_is_whole(call: impl Fn(&[&str]) -> String) {
    let help = call(&["--help"]);
    let commands = commands(&help);
    assert!(commands.contains(&"completions") && commands.contains(&"man"), "{help}");
    let is_grouped = !help.contains("\nCommands:\n");
    assert!(is_grouped || commands.len() <= 6, "{} commands in one list:\n{help}", commands.len());
    let (completions, manual) = (call(&["completions", "bash"]), call(&["man"]));
    assert!(manual.contains(".SH NAME"), "{manual}");
    for command in commands.into_iter().filter(|command| *command != "help") {
        let help = call(&[command, "--help"]);
        assert!(help.contains("Usage: ") && help.contains("\nExamples:\n  "), "no example of `{command}`:\n{help}");
        assert!(completions.contains(command), "bash does not complete {command}");
        assert!(manual.contains(&command.replace('-', "\\-")), "the manual has no {command}");
    }
}

/// The commands in a program's help: those below each heading before the options.
fn commands(help: &str) -> Vec<&str> {
    let (lists, _) = help.split_once("\nOptions:\n").unwrap();
    let lines = lists.lines().skip_while(|line| !line.starts_with("Usage: ")).filter(|line| line.starts_with("  "));
    let words = lines.filter_map(|line| line[2..].split([' ', ',']).next());
    words.filter(|word| word.starts_with(|first: char| first.is_ascii_lowercase())).collect()
}
