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
