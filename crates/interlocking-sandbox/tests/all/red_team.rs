//! A malicious program against each level: what it tries succeeds without the sandbox, so that these tests can fail.

use std::process::Command;

use interlocking_sandbox::PrepareError;

use crate::{
    attempts::ATTEMPTS,
    scene::{Level, SECRET, Scene, text},
};

/// The attempts of one part, so that parts run beside each other.
fn attempts(part: usize, of: usize) {
    for attempt in ATTEMPTS.iter().skip(part).step_by(of) {
        for (level, succeeds) in Level::ALL.into_iter().zip(attempt.succeeds) {
            if level != Level::Sandbox && attempt.script.contains("0x4206") && yama_forbids() {
                continue;
            }
            let scene = Scene::new(level);
            assert_eq!(scene.attempt(attempt), succeeds, "{} ({level:?})", attempt.name);
        }
    }
}

/// Some systems let nobody attach to a program that is not its own child, sandbox or not.
fn yama_forbids() -> bool {
    std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").is_ok_and(|scope| scope.trim() != "0")
}

#[test]
fn attempts_of_the_first_part() {
    attempts(0, 2);
}

#[test]
fn attempts_of_the_second_part() {
    attempts(1, 2);
}

/// The table in the documentation is the one that is tested.
#[test]
fn the_documentation_says_what_is_stopped() {
    let word = |succeeds: bool| if succeeds { "**succeeds**" } else { "refused" };
    let row = |name: &str, [worktree, clone, sandbox]: [bool; 3]| {
        format!("| {name} | {} | {} | {} |", word(worktree), word(clone), word(sandbox))
    };
    let mut expected: Vec<String> = ATTEMPTS.iter().map(|attempt| row(attempt.name, attempt.succeeds)).collect();
    expected.push(row("read by a hard link that lies there", [true, true, false]));
    expected.sort();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/isolation.md");
    let document = std::fs::read_to_string(file).unwrap();
    let mut rows: Vec<&str> = document
        .lines()
        .filter(|line| line.starts_with("| ") && (line.contains("| refused |") || line.contains("| **succeeds** |")))
        .collect();
    rows.sort_unstable();
    assert_eq!(rows, expected, "the rows should be\n{}", expected.join("\n"));
}

/// Landlock looks at paths, so a second name inside the place is found before anything starts.
#[test]
fn a_hard_link_that_lies_there_is_found_before_the_start() {
    for level in Level::ALL {
        let scene = Scene::new(level);
        std::fs::hard_link(scene.secret(), scene.place.path().join("planted")).unwrap();
        match scene.sandbox().prepare() {
            Err(PrepareError::ForeignLinks { links }) => assert_eq!(links, [scene.place.path().join("planted")]),
            other => panic!("{other:?}"),
        }
        let output = if level == Level::Sandbox {
            // Accepted by the caller, it is a way out: that is why it is looked for.
            let accepted = scene.sandbox().accept_foreign_links().prepare().unwrap();
            scene.shell_in(Some(&accepted), "cat planted")
        } else {
            scene.shell("cat planted")
        };
        assert!(text(&output.stdout).contains(SECRET));
    }
}

/// A program that is left behind cannot be waited for, but it is as confined as it was.
#[test]
fn nothing_takes_the_confinement_off() {
    let scene = Scene::new(Level::Sandbox);
    for script in [
        "env -i /bin/sh -c 'cat ../sibling/secret.txt'",
        "cd / && cat $SIBLING/secret.txt",
        "cd $SIBLING && cat secret.txt",
        "perl -e 'chdir $ENV{SIBLING}; open F, \"secret.txt\"; print <F>'",
        "unshare --user --map-root-user cat $SIBLING/secret.txt",
        "unshare --mount sh -c 'mount --bind $SIBLING . && cat secret.txt'",
        "chroot $SIBLING cat /secret.txt",
        "exec 5< $SIBLING/secret.txt; cat <&5",
        "git -c core.pager='cat $SIBLING/secret.txt' -p log; git -c alias.x='!cat $SIBLING/secret.txt' x",
        "cp -r $SIBLING copy; cat copy/secret.txt",
        "tar cf - $SIBLING | cat",
    ] {
        let output = scene.shell(script);
        assert!(!text(&output.stdout).contains(SECRET), "{script}");
        assert!(!scene.place.path().join("copy/secret.txt").exists());
    }
}

/// What the runtime does to an untrusted place can be done confined to it, too.
#[test]
fn the_runtimes_own_work_on_a_clone_can_be_confined() {
    let scene = Scene::new(Level::Sandbox);
    let who = interlocking_worktree::Signature::new("Runtime", "runtime@example.org").unwrap();
    let confinement = scene.sandbox().prepare().unwrap();
    std::fs::write(scene.place.path().join("new.txt"), "new\n").unwrap();
    let exported = confinement.enter(|| {
        assert!(std::fs::read_to_string(scene.secret()).is_err(), "this thread is confined");
        assert_eq!(scene.place.status().unwrap().len(), 2);
        scene.place.commit_all(&who, "work").unwrap().unwrap();
        scene.place.export_since(scene.base).unwrap()
    });
    let exported = exported.unwrap();
    assert!(std::fs::read_to_string(scene.secret()).is_ok(), "this one is not");
    let tip = scene.repository.take_in(&exported, scene.place.branch().unwrap(), None).unwrap();
    let shown =
        Command::new("git").args(["log", "--format=%s", "attacker"]).current_dir(scene.sibling()).output().unwrap();
    assert_eq!(text(&shown.stdout), "work\nBegin\n");
    assert_eq!(tip, exported.tip());
}
