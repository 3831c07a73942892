//! Names from specifications and agents, compared with git's rules.

use interlocking_worktree::{BranchName, NameRule, RepositoryPath};
use proptest::prelude::*;

use crate::judge::{Place, feed, git_in, run, text, write};

/// Names of pieces that the rules are about, in any order.
fn name() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z0-9]{1,4}",
        1 => "[A-Za-z]{1,3}",
        2 => Just("/".to_owned()),
        1 => Just(".".to_owned()),
        1 => Just("-".to_owned()),
        1 => Just("..".to_owned()),
        1 => Just(".lock".to_owned()),
        1 => Just("@{".to_owned()),
        1 => Just("@".to_owned()),
        1 => Just("HEAD".to_owned()),
        1 => Just("refs/heads".to_owned()),
        1 => Just("nul".to_owned()),
        1 => Just(".git".to_owned()),
        1 => "[ ~^:?*\\[\\\\\\x7f\\x01\\n\\tü]",
    ];
    proptest::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Git accepts every name that is accepted here. Names that only this crate refuses are refused for the listed
    /// reasons.
    #[test]
    fn a_branch_name_is_one_of_gits(name in name()) {
        let root = std::env::temp_dir();
        let gits = run(&root, &["check-ref-format", "--branch", &name]).status.success();
        match BranchName::new(name.clone()) {
            Ok(taken) => {
                prop_assert!(gits, "{name:?}");
                prop_assert_eq!(taken.as_str(), &name);
            }
            Err(error) if gits => {
                let is_ours = match error.reason {
                    NameRule::LeadingDash | NameRule::Reserved | NameRule::Device => true,
                    // Some file systems ignore case, and a dot at the end of a directory's name.
                    NameRule::Dots => name.to_ascii_lowercase().contains(".lock") || name.contains("./"),
                    NameRule::Character(character) => character == '@' || character.is_whitespace(),
                    _ => false,
                };
                prop_assert!(is_ours, "{name:?}: {error}");
            }
            Err(_) => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every accepted path lies inside, and git can have a file there.
    #[test]
    fn a_path_stays_inside(pieces in proptest::collection::vec(prop_oneof![
        3 => "[a-z]{1,3}",
        2 => Just("/".to_owned()),
        1 => Just("..".to_owned()),
        1 => Just(".".to_owned()),
        1 => Just(".GiT".to_owned()),
        1 => Just("git~1".to_owned()),
        1 => Just("-".to_owned()),
        1 => Just("\\".to_owned()),
        1 => Just("\u{200c}".to_owned()),
        1 => "[ :\\x00\\x1b\\nü]",
    ], 0..6)) {
        let text = pieces.concat();
        let Ok(path) = RepositoryPath::new(&text) else { return Ok(()) };
        prop_assert!(path.to_path().is_relative());
        prop_assert!(path.to_path().components().all(|part| matches!(part, std::path::Component::Normal(_))));
        prop_assert!(!text.starts_with('-') && !text.chars().any(char::is_control));
        // The check that `git add` makes, with the protections of every system.
        static PLACE: std::sync::LazyLock<Place> = std::sync::LazyLock::new(Place::empty);
        let arguments = ["-c", "core.protectNTFS=true", "-c", "core.protectHFS=true", "update-index", "--add",
            "--index-info"];
        let line = format!("100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 0\t{text}\n");
        git_in(&PLACE.project(), &["read-tree", "--empty"]);
        let output = feed(&PLACE.project(), &arguments, line.as_bytes());
        prop_assert!(output.status.success(), "{text:?}: {}", crate::judge::text(&output.stderr));
    }
}

/// A link of this name would make git read its submodules from anywhere. Git does not add it either.
#[test]
fn a_link_that_git_refuses_is_not_committed() {
    let place = Place::new();
    let worktree = place.worktree("one");
    std::os::unix::fs::symlink("README.md", worktree.path().join(".gitmodules")).unwrap();
    write(&worktree.path().join("new.txt"), "new\n");
    assert!(!run(worktree.path(), &["add", ".gitmodules"]).status.success());
    let before = place.snapshot();
    let error = worktree.commit_all(&crate::judge::author(), "link").unwrap_err();
    assert!(error.to_string().contains(".gitmodules"), "{error}");
    assert_eq!(place.snapshot(), before);
}

/// CON-76: trailers, as git adds and reads them.
#[test]
fn trailers_are_gits() {
    use interlocking_worktree::Message;
    let place = Place::new();
    let texts = [
        "subject",
        "subject\n\nA body.\nOf two lines.",
        "subject\n\nA body.\n\nSigned-off-by: Ada <ada@example.org>\n",
        "subject: with a colon",
        "subject\n\nNode: hImpl\nRound: 1",
    ];
    for text_before in texts {
        let message = Message::new(text_before).unwrap();
        let message = message.trailer("Session", " r1 ").unwrap().trailer("Cost-Usd", "0.12").unwrap();
        let arguments = ["interpret-trailers", "--trailer", "Session: r1", "--trailer", "Cost-Usd: 0.12"];
        let gits = feed(&place.project(), &arguments, format!("{}\n", text_before.trim_end()).as_bytes());
        assert_eq!(message.as_str(), text(&gits.stdout));
        let commit = place.user().commit_empty(&crate::judge::author(), message.as_str()).unwrap();
        let read = place.repository.commit(commit).unwrap().trailers();
        let shown = place.git(&["log", "-1", "--format=%(trailers:only,unfold)", &commit.to_string()]);
        let read: Vec<_> = read.iter().map(|(token, value)| format!("{token}: {value}")).collect();
        assert_eq!(read.join("\n"), shown.trim_end());
    }
}
