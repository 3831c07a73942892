//! Repeats tests as a user without privileges, if this user has any.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// The user `nobody`, on every system.
const NOBODY: u32 = 65534;

/// The variable that says that a test is alone in its process.
const ALONE: &str = "INTERLOCKING_TEST_IS_ALONE";

/// A command that runs this program as that user. It runs a copy, because that user may have no access to the original.
pub(crate) fn this_program(place: &std::path::Path) -> Command {
    use std::os::unix::fs::PermissionsExt;
    let copy = place.join("program");
    // `cp` makes the copy: if this process had the copy open for writing, a child that another test starts at that
    // moment would have it open, too, and Linux executes no file that is open for writing.
    let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&copy).status().unwrap();
    assert!(copied.success());
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(copy);
    command.uid(NOBODY).gid(NOBODY).current_dir("/").env("HOME", "/nonexistent").env_remove("TMPDIR");
    command
}

/// Any user can mark a process as one that was left by a killed runner.
#[test]
fn what_another_user_marked_as_left_keeps_nobody_from_resuming() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    // In a process of its own: other tests here end what their process has as children.
    if std::env::var_os(ALONE).is_none() {
        let name = "as_another_user::what_another_user_marked_as_left_keeps_nobody_from_resuming";
        let output =
            Command::new(std::env::current_exe().unwrap()).args(["--exact", name]).env(ALONE, "1").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    // No process has the id 9999999, which this limit names.
    let marked = ["--locks=1000000000000000000", "sleep", "600"];
    let arguments = ["--exact", "killed_runner::what_a_living_runner_has_is_left_alone"];
    // Another test, which may do so, can end the marked process at any time.
    for _ in 0..100 {
        let mut left = Command::new("prlimit").args(marked).uid(NOBODY - 1).gid(NOBODY - 1).spawn().unwrap();
        let name = format!("/proc/{}/comm", left.id());
        while left.try_wait().unwrap().is_none() && std::fs::read_to_string(&name).is_ok_and(|name| name != "sleep\n") {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        let output = this_program(place.path()).args(arguments).output().unwrap();
        let has_stayed = left.try_wait().unwrap().is_none();
        left.kill().unwrap();
        left.wait().unwrap();
        if has_stayed {
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && said.contains("1 passed"), "{said}");
            return;
        }
    }
    panic!("the marked process never stayed");
}

#[test]
fn nobody_gets_away_from_another_user() {
    if !rustix::process::geteuid().is_root() {
        println!("only the system's user can be another one; everything else here is shown for this one");
        return;
    }
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    // One after the other, because all other tests of this program run at the same time.
    let arguments = ["fugitives::", "trees::", "killed_runner::", "--test-threads=1"];
    let output = this_program(place.path()).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("test result: ok"), "{said}");
    assert!(!said.contains("running 0 tests"), "{said}");
}
