use std::fs;
use std::sync::Arc;

use interlocking_agents::program::{Invocation, StartError};
use interlocking_sandbox::{Protection, Sandbox};

use crate::common::{lines, number, runs, shell_in};

/// The sandbox of a place, without the protections that this system cannot enforce.
pub(crate) fn sandbox(place: &std::path::Path) -> Sandbox {
    let support = interlocking_sandbox::Support::of_this_system();
    let missing = Protection::ALL.into_iter().filter(|protection| !support.enforces(*protection));
    missing.fold(Sandbox::for_place(place), Sandbox::accept_without)
}

#[tokio::test]
async fn a_confined_program_writes_its_place_alone_and_leaves_nobody() {
    let (place, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let secret = outside.path().join("file");
    let script = format!(
        "echo x > inside; echo x > {}; setsid sh -c 'echo $$ > child; exec sleep 600' >/dev/null 2>&1 </dev/null & \
         while ! test -s child; do sleep 0.01; done; echo done",
        secret.display()
    );
    let invocation = Invocation { sandbox: Some(Arc::new(sandbox(place.path()))), ..shell_in(place.path(), &script) };
    let mut running = invocation.start().await.unwrap();
    assert_eq!(lines(&mut running).await, ["done"]);
    let ended = running.end().await.unwrap();
    assert!(ended.stderr.contains("Permission denied") && !secret.exists(), "{}", ended.stderr);
    assert!(fs::exists(place.path().join("inside")).unwrap());
    assert!(!runs(number(&place.path().join("child")).await));
    assert!(ended.survivors >= 1);
}

/// A program that has dropped its caller's environment, session and files is still in its namespace, and cannot change
/// it.
#[tokio::test]
async fn a_confined_program_does_not_leave_its_namespace() {
    if !rustix::process::geteuid().is_root() {
        return println!("not tried: it takes the system's own user to make a namespace of host names");
    }
    let place = tempfile::tempdir().unwrap();
    let script = "(setsid env -i PATH=\"$PATH\" sh -c 'echo $$ > child; unshare --uts sleep 600; exec sleep 600' \
                  >/dev/null 2>&1 </dev/null &); while ! test -s child; do sleep 0.01; done; echo done";
    let invocation = Invocation { sandbox: Some(Arc::new(sandbox(place.path()))), ..shell_in(place.path(), script) };
    let mut running = invocation.start().await.unwrap();
    assert_eq!(lines(&mut running).await, ["done"]);
    let ended = running.end().await.unwrap();
    assert!(!runs(number(&place.path().join("child")).await));
    assert!(ended.survivors >= 1);
}

#[tokio::test]
async fn what_cannot_be_confined_is_not_started() {
    let place = tempfile::tempdir().unwrap();
    let sandbox = sandbox(place.path()).write(place.path().join("absent"));
    let invocation = Invocation { sandbox: Some(Arc::new(sandbox)), ..shell_in(place.path(), "echo x > started") };
    let error = invocation.start().await.unwrap_err();
    assert!(matches!(error, StartError::NotConfined { .. }), "{error}");
    assert!(!place.path().join("started").exists());
}
