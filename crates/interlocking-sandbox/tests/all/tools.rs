//! Tools that must work inside: git, cargo, programs of an asynchronous runtime.

use std::process::Command;

use interlocking_sandbox::{Network, Sandbox};

use crate::scene::{Level, Scene, run, text};

#[test]
fn git_commits_in_a_clone() {
    let scene = Scene::new(Level::Sandbox);
    let output = scene.shell(
        "echo x > new.txt && git add new.txt && git commit -qm work && git fsck --strict && git log --format=%s",
    );
    assert_eq!(text(&output.stdout), "work\nBegin\n", "{}", text(&output.stderr));
    assert!(output.status.success());
}

#[test]
fn cargo_builds_and_runs_a_crate() {
    let directory = tempfile::tempdir().unwrap();
    let (place, temporary) = (directory.path().join("place"), directory.path().join("temporary"));
    std::fs::create_dir(&place).unwrap();
    std::fs::create_dir(&temporary).unwrap();
    std::fs::create_dir(place.join("src")).unwrap();
    std::fs::write(place.join("Cargo.toml"), "[package]\nname = \"inside\"\nedition = \"2024\"\n").unwrap();
    std::fs::write(place.join("src/main.rs"), "fn main() { println!(\"built inside\"); }\n").unwrap();
    std::fs::write(place.join("build.rs"), "fn main() { println!(\"cargo:rerun-if-changed=build.rs\"); }\n").unwrap();
    let sandbox = Sandbox::for_place(&place)
        .temporary_directory(&temporary)
        .cargo()
        .tool_chain_of(env!("CARGO"))
        .tool_chain_of("cc")
        .network(Network::Cut);
    let confinement = sandbox.prepare().unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--offline", "--quiet"]).current_dir(&place).envs(sandbox.environment());
    // Of the build that this test is part of.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_")) {
        if name != "CARGO_HOME" {
            cargo.env_remove(name);
        }
    }
    let output = confinement.enter(|| cargo.output()).unwrap().unwrap();
    assert_eq!(text(&output.stdout), "built inside\n", "{}", text(&output.stderr));
    assert!(place.join("target/debug/inside").exists());
    // What was built has links between its own files; that is no way out.
    sandbox.prepare().unwrap();
}

#[tokio::test]
async fn a_command_of_an_asynchronous_runtime_is_started_inside() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("place");
    std::fs::create_dir(&place).unwrap();
    std::fs::write(directory.path().join("outside"), "outside").unwrap();
    let confinement = Sandbox::for_place(&place).prepare().unwrap();
    let mut command = tokio::process::Command::new("sh");
    command.args(["-c", "echo inside; cat ../outside"]).current_dir(&place);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
    let runtime = tokio::runtime::Handle::current();
    let child = confinement
        .enter(|| {
            let _entered = runtime.enter();
            command.spawn()
        })
        .unwrap()
        .unwrap();
    let output = child.wait_with_output().await.unwrap();
    assert_eq!(text(&output.stdout), "inside\n");
}

/// With the network left alone TCP works, and unix sockets, which reach the services of the machine, do not.
#[test]
fn the_network_left_alone_is_without_unix_sockets() {
    let scene = Scene::new(Level::Sandbox);
    let connect = |sandbox: Sandbox, name: &str| {
        let attempt = crate::attempts::ATTEMPTS.iter().find(|attempt| attempt.name == name).unwrap();
        let confinement = sandbox.prepare().unwrap();
        text(&scene.shell_in(Some(&confinement), attempt.script).stdout).contains(crate::scene::SECRET)
    };
    let open = || scene.sandbox().network(Network::LeftAlone);
    assert!(connect(open(), "connect by TCP"));
    assert!(connect(open(), "ask by UDP"));
    assert!(!connect(open(), "connect to a unix socket by its path"));
    assert!(!connect(open(), "connect to an abstract unix socket"));
    assert!(connect(open().unix_sockets(), "connect to a unix socket by its path"));
    // Those of others are refused by Landlock all the same.
    assert!(!connect(open().unix_sockets(), "connect to an abstract unix socket"));
    let pair = "perl -MSocket -e 'socketpair($a, $b, AF_UNIX, SOCK_STREAM, 0) or die; print \"pair\\n\"'";
    let output = scene.shell(pair);
    assert_eq!(text(&output.stdout), "pair\n", "{}", text(&output.stderr));
}

/// The presets do not open what they should not.
#[test]
fn nothing_of_a_home_directory_is_granted_as_a_whole() {
    let scene = Scene::new(Level::Sandbox);
    let sandbox = scene.sandbox().cargo().tool_chain_of("git").tool_chain_of("no-such-program-anywhere");
    assert!(sandbox.reaches(scene.place.path()));
    assert!(!sandbox.reaches(&scene.sibling()));
    for hidden in ["/proc/1/cmdline", "/run", "/tmp", "/dev/shm", "/etc/shadow", "/"] {
        assert!(!sandbox.reaches(std::path::Path::new(hidden)), "{hidden}");
    }
    let home = std::env::home_dir().unwrap();
    assert!(!sandbox.reaches(&home) && !sandbox.reaches(&home.join(".ssh")));
    run(&mut Command::new("true"));
}
