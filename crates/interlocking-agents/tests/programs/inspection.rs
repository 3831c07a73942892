//! What a program can read about the process that runs it.

use std::process::{Command, Stdio};

use interlocking_agents::program::forbid_inspection;

use crate::common::{lines, shell};

const KEY: &str = "INTERLOCKING_TEST_KEY";

/// Not a test by itself: a process that has a key, and runs a program that tries to read it.
#[tokio::test]
async fn holder() {
    if std::env::var_os(KEY).is_none() {
        return;
    }
    forbid_inspection().unwrap();
    let script = "tr '\\0' '\\n' < /proc/$PPID/environ | grep -c TEST_KEY; cat /proc/$PPID/maps | wc -l; \
                  head -c 1 /proc/$PPID/mem && echo memory; (setsid sh -c 'exec sleep 600' >/dev/null 2>&1 &)";
    let mut running = shell(script).start().await.unwrap();
    println!("read: {:?}", lines(&mut running).await);
    let ended = running.end().await.unwrap();
    println!("ended: {:?} {}", ended.exit, ended.survivors);
}

#[test]
fn a_key_in_the_environment_of_this_process_is_not_read_by_its_programs() {
    let place = tempfile::tempdir().unwrap();
    let mut command = if rustix::process::geteuid().is_root() {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        crate::as_another_user::this_program(place.path())
    } else {
        Command::new(std::env::current_exe().unwrap())
    };
    command.args(["--exact", "inspection::holder", "--nocapture"]).env(KEY, "canary-4711").stderr(Stdio::inherit());
    let said = String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned();
    assert!(said.contains("read: [\"0\", \"0\"]"), "{said}");
    // It can still end what its programs leave behind.
    assert!(said.contains("ended: Some(0) 1") || said.contains("ended: Some(0) 2"), "{said}");
}
