//! Makes all attempts of a malicious program at each level. Attempts that the sandbox stops must succeed without it, which shows
//! that the tests detect success.

use std::{
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    process::Command,
};

use interlocking_sandbox::PrepareError;

use crate::{
    attempts::{self, Attempt, Needs},
    attempts_as_root::AS_ROOT,
    attempts_by_sockets::{SHARING, SOCKETS},
    attempts_on_files::WATCHING,
    scene::{Level, SECRET, Scene, text},
};

/// The environment variable that is set when another user repeats the attempts.
const BY_ANOTHER_USER: &str = "INTERLOCKING_RED_TEAM_BY_ANOTHER_USER";

/// Makes the attempts of one part. The parts run in parallel.
fn attempts(part: usize, of: usize) {
    let played: Vec<_> = attempts::all().skip(part).step_by(of).flat_map(played).collect();
    let wrong: Vec<_> = played.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Makes an attempt at each level. Returns a message for each level at which the result differs from the expected one.
fn played(attempt: &'static Attempt) -> impl Iterator<Item = Option<String>> {
    let by_all = match attempt.needs {
        Needs::Root => rustix::process::geteuid().is_root(),
        Needs::Tracing => !yama_forbids(),
        Needs::Network | Needs::Nothing => true,
    };
    // The other user does not test both worktree and clone where they give the same result.
    let by_other = std::env::var_os(BY_ANOTHER_USER).is_some() && attempt.succeeds[0] == attempt.succeeds[1];
    let is_in = |lists: &[&[Attempt]]| lists.iter().copied().flatten().any(|one| one.name == attempt.name);
    let (by_socket, by_sharing) = (is_in(&[SOCKETS]), is_in(&[SHARING, WATCHING]));
    let has_network = by_socket || is_in(&[AS_ROOT]);
    let levels = Level::ALL.into_iter().filter(move |level| match level {
        Level::Worktree => by_all && !by_other,
        Level::Clone => by_all,
        Level::Sandbox => true,
        Level::SandboxWithNetwork => has_network,
    });
    levels.map(move |level| {
        let scene = Scene::new(level);
        let mut scene = match (by_socket, by_sharing) {
            (true, _) => scene.serving(),
            (_, true) => scene.sharing(),
            _ => scene,
        };
        let succeeded = scene.attempt(attempt);
        let word = if succeeded { "succeeds" } else { "is refused" };
        (succeeded != level.permits(attempt)).then(|| format!("{} {word} ({level:?})", attempt.name))
    })
}

/// Whether the system forbids attaching to programs that are not one's children, even without a sandbox.
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

/// Repeats the tests above as an unprivileged user. Not needed if the tests already run as such a user.
#[test]
fn attempts_of_another_user() {
    if !rustix::process::geteuid().is_root() {
        return println!("not played again: the user who runs this has no more rights than another");
    }
    const NOBODY: u32 = 65534;
    // The other user may not be able to access the directory of this program, so the program is copied.
    let directory = tempfile::tempdir().unwrap();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let (program, home) = (directory.path().join("all"), directory.path().join("home"));
    // A separate `cp` makes the copy: if this process had the copy open for writing, a child that another test starts at that
    // moment would have it open, too, and Linux does not run a file that is open for writing.
    let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status().unwrap();
    assert!(copied.success());
    std::fs::create_dir(&home).unwrap();
    std::os::unix::fs::chown(&home, Some(NOBODY), Some(NOBODY)).unwrap();
    let mut again = Command::new(program);
    again.args(["--exact", "red_team::attempts_of_the_first_part", "red_team::attempts_of_the_second_part"]);
    again
        .process_group(0)
        .uid(NOBODY)
        .gid(NOBODY)
        .current_dir(&home)
        .env("HOME", &home)
        .env("TMPDIR", &home)
        .env(BY_ANOTHER_USER, "yes");
    let output = again.output().unwrap();
    let said = text(&output.stdout);
    assert!(output.status.success() && said.contains("2 passed"), "{said}{}", text(&output.stderr));
}

/// The table in the documentation matches the tested attempts.
#[test]
fn the_documentation_says_what_is_stopped() {
    let word = |succeeds: bool| if succeeds { "**succeeds**" } else { "refused" };
    let row = |name: &str, [worktree, clone, sandbox]: [bool; 3]| {
        format!("| {name} | {} | {} | {} |", word(worktree), word(clone), word(sandbox))
    };
    let mut expected: Vec<String> = attempts::all().map(|attempt| row(attempt.name, attempt.succeeds)).collect();
    expected.push(row("read by a hard link that lies there", [true, true, false]));
    expected.sort();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/book/src/isolation.md");
    let document = std::fs::read_to_string(file).unwrap();
    let mut rows: Vec<&str> = document
        .lines()
        .filter(|line| line.starts_with("| ") && (line.contains("| refused |") || line.contains("| **succeeds** |")))
        .collect();
    rows.sort_unstable();
    assert_eq!(rows, expected, "the rows should be\n{}", expected.join("\n"));
}

/// Landlock checks paths, so a hard link in the place must be found before anything starts.
#[test]
fn a_hard_link_that_lies_there_is_found_before_the_start() {
    for level in Level::ALL {
        let scene = Scene::new(level);
        std::fs::hard_link(scene.secret(), scene.place.path().join("planted")).unwrap();
        match scene.sandbox().prepare() {
            Err(PrepareError::ForeignLinks { links }) => assert_eq!(links, [scene.place.path().join("planted")]),
            other => panic!("{other:?}"),
        }
        let output = if level.is_sandbox() {
            // If the caller accepts the link, the program can escape by it: that is why links are searched.
            let accepted = scene.sandbox().accept_foreign_links().prepare().unwrap();
            scene.shell_in(Some(&accepted), "cat planted")
        } else {
            scene.shell("cat planted")
        };
        assert!(text(&output.stdout).contains(SECRET));
    }
}

/// A socket of a pair that keeps its peer cannot be connected to another one.
#[test]
fn an_end_of_a_pair_keeps_its_peer() {
    for level in [Level::Sandbox, Level::SandboxWithNetwork] {
        let scene = Scene::new(level).serving();
        let output = scene.perl(
            r#"
            for my $kind (SOCK_STREAM, SOCK_SEQPACKET) {
                # With the flags for closing at the start of another program and for not waiting.
                socketpair($s, $t, AF_UNIX, $kind | 02000000 | 04000, 0) or die $!;
                syswrite($s, "x") == 1 && sysread($t, $read, 1) == 1 or die $!;
                print "pair\n";
                bind($s, sockaddr_un("$ENV{PWD}/own$kind"));
                for (1 .. 2) {
                    connect($s, pack("S", AF_UNSPEC));
                    connect($s, sockaddr_un($ENV{SOCKET})) and print "connected\n";
                    listen($s, 1) and print "listening\n";
                    send($s, "?", 0, sockaddr_un($ENV{DATAGRAM}));
                    print <$s>;
                    shutdown($s, 2);
                    close($t);
                }
            }
            "#,
        );
        assert_eq!(text(&output.stdout), "pair\npair\n", "{}", text(&output.stderr));
    }
}

/// A program that outlives its parent stays confined. Without the sandbox, each of these programs reads the secret.
#[test]
fn nothing_takes_the_confinement_off() {
    let (scene, open) = (Scene::new(Level::Sandbox), Scene::new(Level::Clone));
    let by_all = [
        "env -i /bin/sh -c 'cat ../sibling/secret.txt'",
        "cd / && cat $SIBLING/secret.txt",
        "cd $SIBLING && cat secret.txt",
        "perl -e 'chdir $ENV{SIBLING}; open F, \"secret.txt\"; print <F>'",
        "exec 5< $SIBLING/secret.txt; cat <&5",
        "git -c alias.x='!cat $SIBLING/secret.txt' x",
        "cp -r $SIBLING copy; cat copy/secret.txt",
        "tar cf - $SIBLING | cat",
    ];
    let by_root = [
        "unshare --user --map-root-user cat $SIBLING/secret.txt",
        "unshare --mount sh -c 'mount --bind $SIBLING . && cd \"$PWD\" && cat secret.txt'",
        "perl -e 'chroot $ENV{SIBLING}; open F, \"/secret.txt\"; print <F>'",
    ];
    let by_root = by_root.into_iter().filter(|_| rustix::process::geteuid().is_root());
    for script in by_all.into_iter().chain(by_root) {
        assert!(text(&open.shell(script).stdout).contains(SECRET), "{script}");
        let output = scene.shell(script);
        assert!(!text(&output.stdout).contains(SECRET), "{script}");
        assert!(!scene.place.path().join("copy/secret.txt").exists());
    }
}

/// The runtime's own work on an untrusted clone can run confined, too.
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
    let tip = scene.repository.import(&exported, scene.place.branch().unwrap(), None).unwrap();
    let shown =
        Command::new("git").args(["log", "--format=%s", "attacker"]).current_dir(scene.sibling()).output().unwrap();
    assert_eq!(text(&shown.stdout), "work\nBegin\n");
    assert_eq!(tip, exported.tip());
}
