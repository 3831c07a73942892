//! What a confined program can and cannot do, in small.

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

    let confinement = Sandbox::for_place(&place).network(Network::Cut).prepare().unwrap();
    let confined = confinement.enter(|| shell().output()).unwrap().unwrap();
    assert_eq!(String::from_utf8_lossy(&confined.stdout), "own\n");
    assert!(!other.join("new").exists());
    // The thread that asked is as free as before.
    assert_eq!(std::fs::read_to_string(other.join("secret")).unwrap(), "secret");
}

/// Calls that no rule about files covers. Each fails in another way outside, since its arguments are none.
#[test]
fn calls_that_make_a_way_out_are_forbidden() {
    const NOT_PERMITTED: &str = "1\n";
    let directory = tempfile::tempdir().unwrap();
    let confinement = Sandbox::for_place(directory.path()).prepare().unwrap();
    let mut calls = vec![("io_uring_setup", "syscall(425, 0, 0)"), ("TIOCSTI", "ioctl(STDIN, 0x5412, 0)")];
    if cfg!(target_arch = "x86_64") {
        calls.push(("keyctl", "syscall(250, 99, 0, 0, 0, 0)"));
        calls.push(("perf_event_open", "syscall(298, 0, 0, 0, 0, 0)"));
        calls.push(("open_by_handle_at", "syscall(304, -1, 0, 0)"));
        calls.push(("bpf", "syscall(321, 999, 0, 0)"));
        calls.push(("shmat", "syscall(30, -1, 0, 0)"));
        calls.push(("mq_open", "syscall(240, 0, 0, 0, 0)"));
        // The other set of numbers for the same calls.
        calls.push(("socket", "syscall(0x40000029, 1, 1, 0)"));
        calls.push(("ioctl", "syscall(0x40000202, 0, 0x5412, 0)"));
    }
    for (name, call) in calls {
        let mut perl = Command::new("perl");
        perl.args(["-e", &format!("$r = {call}; print $!+0, \"\\n\"")]).stdin(std::process::Stdio::null());
        let free = perl.output().unwrap();
        assert_ne!(String::from_utf8_lossy(&free.stdout), NOT_PERMITTED, "{name} outside");
        let confined = confinement.enter(|| perl.output()).unwrap().unwrap();
        assert_eq!(String::from_utf8_lossy(&confined.stdout), NOT_PERMITTED, "{name} inside");
    }
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

/// The directory is opened when the sandbox is prepared; another one in its place is not reached.
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
