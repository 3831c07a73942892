//! Tools that must work in a sandbox: git, cargo, Node.js, and commands that an asynchronous runtime starts.

use std::process::Command;

use interlocking_sandbox::{Network, Sandbox};

use crate::scene::{Level, Scene, run, text};

/// EVO-06: an agent in a sandbox commits its work.
#[test]
fn git_commits_in_a_clone() {
    let scene = Scene::new(Level::Sandbox);
    let output = scene.shell(
        "echo x > new.txt && git add new.txt && git commit -qm work && git fsck --strict && git log --format=%s",
    );
    assert_eq!(text(&output.stdout), "work\nBegin\n", "{}", text(&output.stderr));
    assert!(output.status.success());
}

/// EVO-06: and also if the user's configuration names further files.
#[test]
fn git_works_with_a_configuration_in_several_files() {
    const NAME: &str = "tools::git_works_with_a_configuration_in_several_files";
    const INSIDE: &str = "INTERLOCKING_HOME_WITH_GIT_CONFIGURATION";
    if std::env::var_os(INSIDE).is_none() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(home.path().join(name), text).unwrap();
        write(".gitconfig", "[include]\n\tpath = .gitconfig.local\n[core]\n\texcludesFile = ~/.ignored\n");
        write(
            ".gitconfig.local",
            "[core]\n\tattributesFile = ~/.attributes\n[user]\n\tname = A\n\temail = a@example.org\n",
        );
        write(".ignored", "*.ignored\n");
        write(".attributes", "*.txt text\n");
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", NAME]).env("HOME", home.path()).env(INSIDE, "1");
        again.env_remove("GIT_CONFIG_GLOBAL").env_remove("XDG_CONFIG_HOME");
        return assert!(again.status().unwrap().success());
    }
    let directory = tempfile::tempdir().unwrap();
    let confinement = Sandbox::for_place(directory.path()).git().prepare().unwrap();
    let script = "git init -q && touch a.txt b.ignored && git add . && git commit -qm work && \
        git ls-files && git check-attr text a.txt";
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).current_dir(directory.path());
    let output = confinement.enter(|| shell.output()).unwrap().unwrap();
    assert_eq!(text(&output.stdout), "a.txt\na.txt: text: set\n", "{}", text(&output.stderr));
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
    // Cargo reads these files above the place, and fails if it cannot.
    std::fs::create_dir(directory.path().join(".cargo")).unwrap();
    std::fs::write(directory.path().join(".cargo/config.toml"), "include = [\"included.toml\"]\n").unwrap();
    std::fs::write(directory.path().join(".cargo/included.toml"), "[profile.dev]\ndebug = 0\n").unwrap();
    std::fs::write(directory.path().join("Cargo.toml"), "[workspace]\nexclude = [\"place\"]\n").unwrap();
    let sandbox = Sandbox::for_place(&place)
        .temporary_directory(&temporary)
        .cargo()
        .tool_chain_of(env!("CARGO"))
        .tool_chain_of("cc")
        .network(Network::Denied);
    let confinement = sandbox.prepare().unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--offline", "--quiet"]).current_dir(&place).envs(sandbox.environment());
    // Remove the variables of the build that this test is part of.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_")) {
        if name != "CARGO_HOME" {
            cargo.env_remove(name);
        }
    }
    let output = confinement.enter(|| cargo.output()).unwrap().unwrap();
    assert_eq!(text(&output.stdout), "built inside\n", "{}", text(&output.stderr));
    assert!(place.join("target/debug/inside").exists());
    // The build made hard links between its own files, which do not lead out of the place.
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

#[test]
fn a_place_that_is_only_read_is_neither_written_nor_run() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("file"), "read\n").unwrap();
    std::os::unix::fs::symlink("/bin/echo", place.path().join("link")).unwrap();
    std::fs::copy("/bin/echo", place.path().join("program")).unwrap();
    let confinement = Sandbox::for_reading(place.path()).prepare().unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", "cat file; ./link run; ./program run; echo x > file; echo x > new; rm file"]).current_dir(&place);
    let output = confinement.enter(|| shell.output()).unwrap().unwrap();
    assert_eq!(text(&output.stdout), "read\nrun\n");
    assert_eq!(std::fs::read_to_string(place.path().join("file")).unwrap(), "read\n");
    assert!(!place.path().join("new").exists());
}

/// With the network left alone, TCP works, but unix sockets, which reach the services of the machine, do not.
#[test]
fn the_network_left_alone_is_without_unix_sockets() {
    let scene = Scene::new(Level::Sandbox).serving();
    let connect = |sandbox: Sandbox, name: &str| {
        let confinement = sandbox.prepare().unwrap();
        let output = scene.attempt_in(Some(&confinement), crate::attempts::named(name));
        text(&output.stdout).contains(crate::scene::SECRET)
    };
    let open = || scene.sandbox().network(Network::Allowed);
    assert!(connect(open(), "connect by TCP"));
    assert!(connect(open(), "ask by UDP"));
    assert!(!connect(open(), "connect to a unix socket by its path"));
    assert!(!connect(open(), "connect to an abstract unix socket"));
    assert!(connect(open().unix_sockets(), "connect to a unix socket by its path"));
    // Landlock still refuses abstract sockets of programs outside.
    assert!(!connect(open().unix_sockets(), "connect to an abstract unix socket"));
    let pair = "perl -MSocket -e 'socketpair($a, $b, AF_UNIX, SOCK_STREAM, 0) or die; print \"pair\\n\"'";
    let output = scene.shell(pair);
    assert_eq!(text(&output.stdout), "pair\n", "{}", text(&output.stderr));
}

/// Programs may change their own limits and scheduling, but not those of other programs.
#[test]
fn programs_set_their_own_limits_and_scheduling() {
    let scene = Scene::new(Level::Sandbox);
    for script in [
        "ulimit -c 0",
        "nice -n 5 true",
        "ionice -c 3 true",
        "chrt --batch 0 true",
        "taskset 1 true || taskset 2 true",
        "prlimit --core=0 true",
        "perl -e 'setpriority(0, 0, 3) or die $!'",
    ] {
        let output = scene.shell(script);
        assert!(output.status.success(), "{script}: {}", text(&output.stderr));
    }
}

/// The tools cope without inotify, file attributes and capabilities.
#[test]
fn common_tools_work() {
    let scene = Scene::new(Level::Sandbox);
    for script in [
        "mkdir -p some/files && echo x > some/files/one && ln -s one some/files/two && ls -lR some",
        "cp -a some copy && diff -r some copy && mv copy moved && rm -r moved",
        "tar cf some.tar some && mkdir unpacked && tar xf some.tar -C unpacked && test -L unpacked/some/files/two",
        // Without inotify, `tail` polls the file.
        "(sleep 0.2; echo more >> some/files/one) & timeout 20 tail -n 0 -f some/files/one | head -n 1 | grep more",
        "find some -type f | xargs grep -l x && sed -i s/x/y/ some/files/one",
        "mkfifo pipe && (cat pipe & echo through > pipe; wait)",
    ] {
        let output = scene.shell(script);
        assert!(output.status.success(), "{script}: {}", text(&output.stderr));
    }
}

/// Tests the event loop of Node.js, its threads, and children whose pipes are socket pairs.
#[test]
fn node_works() {
    let scene = Scene::new(Level::Sandbox);
    if Command::new("node").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "there is no node");
        return println!("not tried: there is no node");
    }
    let script = r#"
        const { spawnSync, spawn } = require("child_process");
        const { Worker } = require("worker_threads");
        const fs = require("fs");
        fs.cpSync(".", fs.mkdtempSync(process.env.TMPDIR + "/copy"), { recursive: true });
        try { fs.watch("."); console.log("watched"); } catch (error) { console.log(error.code); }
        console.log(spawnSync("echo", ["child"]).stdout.toString().trim());
        new Worker("require('worker_threads').parentPort.postMessage('thread')", { eval: true }).on("message", (message) => {
            console.log(message);
            const child = spawn("cat", { stdio: ["pipe", "pipe", "inherit"] });
            child.stdout.on("data", (data) => console.log(data.toString()));
            child.stdin.end("piped");
        });
    "#;
    let sandbox = scene.sandbox().tool_chain_of("node").prepare().unwrap();
    std::fs::write(scene.place.path().join("script.js"), script).unwrap();
    let output = scene.shell_in(Some(&sandbox), "node script.js");
    assert_eq!(text(&output.stdout), "EPERM\nchild\nthread\npiped\n", "{}", text(&output.stderr));
}

/// A file that was opened for reading cannot be changed by its descriptor. Outside a sandbox, each of these changes succeeds.
#[test]
fn what_may_only_be_read_is_not_changed_by_a_descriptor() {
    let scene = Scene::new(Level::Sandbox);
    let confinement = scene.sandbox().read(scene.sibling()).prepare().unwrap();
    for (name, script) in [
        ("an attribute", r#"print "done\n" if call("fsetxattr", fileno($f), "user.new", "x", 1, 0) == 0"#),
        (
            "a flag",
            r#"$flags = pack("l!", 0x40); print "done\n" if call("ioctl", fileno($f), 0x40086602, $flags) == 0"#,
        ),
        ("a lease", r#"print "done\n" if call("fcntl", fileno($f), 1024, 0) == 0"#),
    ] {
        let script = format!(r#"open($f, "<", "$ENV{{SIBLING}}/program") or die $!; print <$f>; {script}"#);
        let tried = |confinement| text(&scene.perl_in(confinement, &script).stdout);
        let (inside, outside) = (tried(Some(&confinement)), tried(None));
        assert!(inside.contains("echo") && outside.contains("echo"), "{name} is tried at a file that is read");
        assert!(outside.lines().filter(|line| *line == "done").count() == 1, "{name} outside: {outside}");
        assert!(inside.lines().filter(|line| *line == "done").count() == 0, "{name} inside: {inside}");
    }
}

/// A project decides how many files it has, so a sandbox for some of them needs no open file for each.
#[test]
fn more_paths_are_granted_than_files_may_be_open() {
    const NAME: &str = "tools::more_paths_are_granted_than_files_may_be_open";
    const INSIDE: &str = "INTERLOCKING_FEW_OPEN_FILES";
    if std::env::var_os(INSIDE).is_none() {
        let again = format!("ulimit -n 100 && exec \"$0\" --exact {NAME}");
        let mut limited = Command::new("sh");
        limited.args(["-c", &again]).arg(std::env::current_exe().unwrap()).env(INSIDE, "1");
        return assert!(limited.status().unwrap().success());
    }
    let directory = tempfile::tempdir().unwrap();
    let files: Vec<_> = (0..200).map(|number| directory.path().join(number.to_string())).collect();
    let place = directory.path().join("place");
    std::fs::create_dir(&place).unwrap();
    files.iter().for_each(|file| std::fs::write(file, "granted\n").unwrap());
    let confinement = files.iter().fold(Sandbox::for_place(&place), Sandbox::read).prepare().unwrap();
    let output = confinement.enter(|| Command::new("cat").arg(&files[0]).arg(&files[199]).output()).unwrap().unwrap();
    assert_eq!(text(&output.stdout), "granted\ngranted\n");
}

/// The presets grant no whole home directory.
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
