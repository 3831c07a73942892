//! Text in a project's files reaches a terminal as text only.

use crate::support::Project;

/// It clears the screen, goes back, and shows the rest from right to left.
const HOSTILE: &str = r"\e[2J\x9b2J\r\b\u202emar";

#[test]
fn nothing_that_steers_a_terminal_is_printed() {
    let protocol = format!("name: x\ndescription: \"{HOSTILE}\"\nsteps:\n  1: \"{HOSTILE}\"\n");
    let broken = format!("name: y\nextends: \"{HOSTILE}\"\n\"{HOSTILE}\": 1\nsteps: {{}}\n");
    let project = Project::with_protocols(&[("x", &protocol), ("y", &broken)]);
    let name = "\u{1b}[2J\u{9b}2J";
    for words in [
        &["protocol", "x"][..],
        &["protocol", "x", "--json"],
        &["protocol", "y"],
        &["protocol", "y", "--json"],
        &["protocol", name],
        &["protocols", "--project", name],
        &[name],
    ] {
        let called = project.call(words);
        for character in (called.stdout.clone() + &called.stderr).chars() {
            let is_layout = matches!(character, '\n' | '\t');
            assert!(is_layout || !character.is_control() && character != '\u{202e}', "{words:?}: {called:?}");
        }
    }
    let shown = project.call(&["protocol", "x", "--json"]).json();
    assert_eq!(shown["description"], "\u{1b}[2J\u{9b}2J\r\u{8}\u{202e}mar", "as data it is what it was");
    assert!(project.call(&["protocol", "x"]).stdout.contains(r"\u001b[2J\u009b2J\u000d\u0008\u202emar"));
}

#[test]
fn a_line_break_in_what_a_project_says_begins_no_line() {
    let project = Project::with_protocols(&[("x", "name: \"y\\nerror: none\"\nsteps: {1: a}\n")]);
    let called = project.call(&["protocol", "x"]);
    assert!(called.stderr.lines().count() == 1 && called.stderr.contains(r"`y\u000aerror: none`"), "{called:?}");
    std::fs::rename(project.path(".claude"), project.path("moved")).unwrap();
    std::fs::create_dir(project.path("a\nb")).unwrap();
    std::fs::rename(project.path("moved"), project.path("a\nb/.claude")).unwrap();
    let called = project.call(&["protocols", "--project", "a\nb"]);
    assert!(called.stdout.lines().count() == 5 && called.stdout.contains(r"a\u000ab/.claude"), "{called:?}");
}

#[test]
fn a_line_break_in_a_files_name_begins_no_line() {
    let project = Project::repository();
    project.write("a\nb.rs", "// [DEBUG-TEMP]\nlog();\n");
    let called = project.call(&["plan", "cleanup-debug-logs"]);
    assert_eq!(called.stdout, "a\\u000ab.rs:1-2\nremoved: 1 markers, 2 lines, in 1 files\n");
    assert!(called.stderr.starts_with("warning: a\\u000ab.rs:1: no blank line") && called.stderr.lines().count() == 1);
}
