//! Basic tests of what a confined program can and cannot do.

use std::process::Command;

use interlocking_sandbox::{Network, Protection, Sandbox, Support};

#[test]
fn this_system_enforces_everything() {
    let support = Support::of_this_system();
    for protection in Protection::ALL {
        assert!(support.enforces(protection), "{protection}: {}", support.explanation());
    }
}

#[test]
fn a_program_reads_and_writes_its_place_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let (place, other) = (directory.path().join("place"), directory.path().join("other"));
    std::fs::create_dir(&place).unwrap();
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("secret"), "secret").unwrap();
    let script = "echo own > own && cat own; cat ../other/secret; echo x > ../other/new; ls ../other";
    let shell = || {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(&place);
        command
    };
    let free = shell().output().unwrap();
    assert_eq!(String::from_utf8_lossy(&free.stdout), "own\nsecretnew\nsecret\n");
    std::fs::remove_file(other.join("new")).unwrap();

    let confinement = Sandbox::for_place(&place).network(Network::Denied).prepare().unwrap();
    let confined = confinement.enter(|| shell().output()).unwrap().unwrap();
    assert_eq!(String::from_utf8_lossy(&confined.stdout), "own\n");
    assert!(!other.join("new").exists());
    // The calling thread is not confined.
    assert_eq!(std::fs::read_to_string(other.join("secret")).unwrap(), "secret");
}

/// Inotify is permitted only if it is granted.
#[test]
fn files_are_watched_where_that_is_granted() {
    let directory = tempfile::tempdir().unwrap();
    let watch = format!("$w = syscall({}, 0); exit($w < 0)", libc::SYS_inotify_init1);
    let watches = |sandbox: Sandbox| {
        let mut perl = Command::new("perl");
        perl.args(["-e", &watch]);
        sandbox.prepare().unwrap().enter(|| perl.status()).unwrap().unwrap().success()
    };
    let sandbox = Sandbox::for_place(directory.path());
    assert!(!watches(sandbox.clone()));
    assert!(watches(sandbox.inotify()));
}

/// Capabilities are inherited, so they must be dropped: a confined child of root has no more rights than a child of another user.
#[test]
fn a_child_has_no_capabilities() {
    let directory = tempfile::tempdir().unwrap();
    let confinement = Sandbox::for_place(directory.path()).prepare().unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", "sh -c 'echo started; read line'; true"]);
    shell.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = confinement.enter(|| shell.spawn()).unwrap().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.as_mut().unwrap()), &mut line).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    drop(child.stdin.take());
    child.wait().unwrap();
    let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
        assert_eq!(value(set), "0000000000000000", "{set}");
    }
    assert_eq!(value("NoNewPrivs:"), "1");
}

/// Root can write everywhere, but a confined program of root cannot.
#[test]
fn a_place_of_another_users_is_said_to_be_one() {
    if !rustix::process::geteuid().is_root() {
        return println!("not tried: it takes the system's own user to make a directory of another's");
    }
    let directory = tempfile::tempdir().unwrap();
    assert!(Sandbox::for_place(directory.path()).prepare().is_ok());
    std::os::unix::fs::chown(directory.path(), Some(65534), Some(65534)).unwrap();
    let error = Sandbox::for_place(directory.path()).prepare().unwrap_err().to_string();
    let expected = "cannot be granted: user 65534 owns it, and whoever is confined has no rights to the files of others: \
                    give it to the user who runs the program, or run as its owner";
    assert_eq!(error, format!("{} {expected}", directory.path().display()));
    // A directory that is writable for all users is accepted.
    std::fs::set_permissions(directory.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    assert!(Sandbox::for_place(directory.path()).prepare().is_ok());
}

#[test]
fn a_sandbox_in_a_sandbox_is_the_narrower_of_both() {
    let directory = tempfile::tempdir().unwrap();
    let (wide, narrow) = (directory.path().join("wide"), directory.path().join("wide/narrow"));
    std::fs::create_dir_all(&narrow).unwrap();
    std::fs::write(wide.join("file"), "wide").unwrap();
    std::fs::write(narrow.join("file"), "narrow").unwrap();
    let inner = Sandbox::for_place(&narrow).write(&wide).prepare().unwrap();
    let read = |path: &std::path::Path| std::fs::read_to_string(path.join("file")).is_ok();
    let outer = Sandbox::for_place(&narrow).prepare().unwrap();
    let found = outer.enter(|| inner.enter(|| (read(&wide), read(&narrow))).unwrap()).unwrap();
    assert_eq!(found, (false, true));
    assert_eq!(inner.enter(|| (read(&wide), read(&narrow))).unwrap(), (true, true));
}

/// The directory is opened when the sandbox is prepared. A directory that is put there later is not accessible.
#[test]
fn a_place_that_is_exchanged_is_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let (place, other) = (directory.path().join("place"), directory.path().join("other"));
    std::fs::create_dir(&place).unwrap();
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("file"), "other").unwrap();
    let confinement = Sandbox::for_place(&place).prepare().unwrap();
    std::fs::rename(&place, directory.path().join("aside")).unwrap();
    std::os::unix::fs::symlink(&other, &place).unwrap();
    assert!(confinement.enter(|| std::fs::read(place.join("file"))).unwrap().is_err());
}
