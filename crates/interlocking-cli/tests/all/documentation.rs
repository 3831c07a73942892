//! `docs/book/src/cli.md` and the help say the same.

use crate::support::Program;

#[tokio::test]
async fn the_documentation_has_every_command_and_option() {
    let page = include_str!("../../../../docs/book/src/cli.md");
    let review = Program::new();
    let help = |ran: crate::support::Ran| {
        assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""));
        ran.stdout
    };
    let main = help(review.call(&["--help"]).await);
    let commands = crate::support::commands(&main);
    let runs = ["run", "resume", "answer", "fork", "cancel"];
    assert_eq!(commands, [&runs[..], &["list", "show", "prune", "graph", "completions", "man", "help"]].concat());
    for command in commands.iter().filter(|command| **command != "help") {
        assert!(page.contains(&format!("| `{command}")), "{command} is not in docs/book/src/cli.md");
        let help = help(review.call(&[command, "--help"]).await);
        let options = help.split_whitespace().filter(|word| word.starts_with("--"));
        for option in options.map(|word| word.trim_end_matches([',', '.', ')', ';', ':', '`'])) {
            let own = ["--crash", "--help"].contains(&option);
            // The new name of a fork needs no line on the page.
            assert!(
                own || option == "--run-id" || page.contains(option),
                "{option} of {command} is not in docs/book/src/cli.md"
            );
        }
    }
    for code in [0, 1, 2, 3, 4, 5, 6, 7, 8, 130] {
        assert!(main.contains(&format!("\n  {code:<5}")) && page.contains(&format!("\n| {code} |")), "{code}");
    }
}
