//! A user's repository, another agent's place, and the place of the program that attacks them.

use std::{
    collections::BTreeMap,
    io::Write as _,
    net::{TcpListener, UdpSocket},
    os::{
        linux::net::SocketAddrExt as _,
        unix::{fs::MetadataExt as _, net::UnixListener},
    },
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use interlocking_sandbox::{Confinement, Network, Sandbox};
use interlocking_worktree::{BranchName, CommitId, Configuration, Repository, Signature, Worktree};
use tempfile::TempDir;

use crate::attempts::{Aim, Attempt};

pub(crate) const SECRET: &str = "the-secret-of-the-sibling";

/// Makes shared memory with a secret in it; it stays until it is removed (`IPC_RMID`, 0).
const SHARE: &str = "$m = shmget($ARGV[0]+0, 64, 01600); defined $m or die $!; shmwrite($m, $ARGV[1], 0, 64) or die $!";

/// How the attacker's place is kept from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Worktree,
    Clone,
    Sandbox,
}

impl Level {
    pub(crate) const ALL: [Self; 3] = [Self::Worktree, Self::Clone, Self::Sandbox];
}

pub(crate) struct Scene {
    directory: TempDir,
    pub(crate) repository: Repository,
    pub(crate) base: CommitId,
    pub(crate) place: Worktree,
    level: Level,
    victim: Child,
    environment: Vec<(&'static str, String)>,
}

impl Scene {
    pub(crate) fn new(level: Level) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path);
        let repository = Repository::init_with(at("project"), Configuration::RepositoryOnly).unwrap();
        let who = Signature::new("Ada", "ada@example.org").unwrap();
        std::fs::write(at("project/README.md"), "# Project\n").unwrap();
        std::fs::create_dir_all(at("project/.git/hooks")).unwrap();
        let user = repository.main_worktree().unwrap().unwrap();
        let base = user.commit_all(&who, "Begin").unwrap().unwrap();
        let branch = |name| BranchName::new(name).unwrap();

        let sibling = repository.create_worktree(at("run/sibling"), branch("sibling"), base).unwrap();
        std::fs::write(at("run/sibling/secret.txt"), format!("{SECRET}\n")).unwrap();
        std::fs::write(at("run/sibling/program"), "#!/bin/sh\necho done\n").unwrap();
        run(Command::new("chmod").arg("+x").arg(at("run/sibling/program")));
        sibling.commit_all(&who, "A secret").unwrap().unwrap();
        let place = match level {
            Level::Worktree => repository.create_worktree(at("run/attacker"), branch("attacker"), base).unwrap(),
            Level::Clone | Level::Sandbox => {
                repository.create_clone(at("run/attacker"), &branch("attacker"), base).unwrap()
            }
        };
        std::os::unix::fs::symlink(at("run/sibling"), at("run/attacker/planted-link")).unwrap();
        std::fs::create_dir(at("temporary")).unwrap();

        // Its arguments, its environment, its working directory and its open files are all worth something.
        let victim = Command::new("sh")
            .args(["-c", "while :; do sleep 1; done", SECRET])
            .current_dir(at("run/sibling"))
            .env("TOKEN", SECRET)
            .stdin(std::fs::File::open(at("run/sibling/secret.txt")).unwrap())
            .spawn()
            .unwrap();
        let blob = run(Command::new("git").args(["rev-parse", "HEAD:secret.txt"]).current_dir(at("run/sibling")));
        let mut environment = vec![
            ("SIBLING", at("run/sibling").display().to_string()),
            ("PROJECT", at("project").display().to_string()),
            ("VICTIM", victim.id().to_string()),
            ("BLOB", text(&blob.stdout).trim().to_owned()),
            ("BASE", base.to_string()),
        ];
        environment.extend(services(&at("socket")));
        // A number that nobody else has while the victim lives.
        let memory = 0x1000_0000 + victim.id();
        environment.push(("MEMORY", memory.to_string()));
        run(Command::new("perl").args(["-e", SHARE, &memory.to_string(), SECRET]));
        Self { directory, repository, base, place, level, victim, environment }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    pub(crate) fn secret(&self) -> PathBuf {
        self.at("run/sibling/secret.txt")
    }

    pub(crate) fn sibling(&self) -> PathBuf {
        self.at("run/sibling")
    }

    /// What a runtime would set up for an agent that needs git and no network.
    pub(crate) fn sandbox(&self) -> Sandbox {
        Sandbox::for_place(self.place.path()).temporary_directory(self.at("temporary")).git().network(Network::Cut)
    }

    /// Runs a script as the level has it.
    pub(crate) fn shell(&self, script: &str) -> Output {
        let confinement = (self.level == Level::Sandbox).then(|| self.sandbox().prepare().unwrap());
        self.shell_in(confinement.as_ref(), script)
    }

    pub(crate) fn shell_in(&self, confinement: Option<&Confinement>, script: &str) -> Output {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(self.place.path()).envs(self.environment.iter().cloned());
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("GIT_")) {
            command.env_remove(name);
        }
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("TMPDIR", self.at("temporary"))
            .envs([("GIT_AUTHOR_NAME", "Eve"), ("GIT_AUTHOR_EMAIL", "eve@example.org")])
            .envs([("GIT_COMMITTER_NAME", "Eve"), ("GIT_COMMITTER_EMAIL", "eve@example.org")])
            .stdin(Stdio::null());
        match confinement {
            Some(confinement) => confinement.enter(|| command.output()).unwrap().unwrap(),
            None => command.output().unwrap(),
        }
    }

    /// Makes the attempt and says whether it succeeded.
    pub(crate) fn attempt(&self, attempt: &Attempt) -> bool {
        let before = self.outside();
        let output = self.shell(attempt.script);
        if attempt.script.contains("> ended") {
            self.wait_for_the_background();
        }
        let said = text(&output.stdout);
        match attempt.aim {
            Aim::Read => {
                let stolen = std::fs::read(self.place.path().join("stolen")).unwrap_or_default();
                said.contains(SECRET) || text(&stolen).contains(SECRET)
            }
            Aim::Write => self.outside() != before,
            Aim::Act => said.contains("done"),
        }
    }

    /// It may still write to its own place, and says so there.
    fn wait_for_the_background(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !self.place.path().join("ended").exists() {
            assert!(Instant::now() < deadline, "the background program never ended");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Everything outside the attacker's place: kind, mode, time and contents of each file.
    pub(crate) fn outside(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut waiting = vec![self.directory.path().to_owned()];
        while let Some(path) = waiting.pop() {
            // What git keeps for the attacker's linked worktree is the attacker's.
            let is_own = path == self.place.path() || path == self.at("temporary");
            if is_own || path == self.at("project/.git/worktrees/attacker") {
                continue;
            }
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            let contents = if metadata.is_dir() {
                waiting.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                String::new()
            } else if metadata.is_file() {
                format!("{} {}", metadata.mtime(), text(&std::fs::read(&path).unwrap()))
            } else {
                "special".to_owned()
            };
            found.insert(path, format!("{:o} {contents}", metadata.mode()));
        }
        found
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        let memory = (0x1000_0000 + self.victim.id()).to_string();
        let _ = Command::new("perl").args(["-e", "shmctl(shmget($ARGV[0]+0, 0, 0), 0, 0)", &memory]).status();
    }
}

/// Each gives the secret to whoever asks, until the test ends.
fn services(path: &Path) -> Vec<(&'static str, String)> {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let name = format!("interlocking-red-team-{}", path.display());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let abstract_socket = UnixListener::bind_addr(&address).unwrap();
    let socket = UnixListener::bind(path).unwrap();
    let named = vec![
        ("TCP", tcp.local_addr().unwrap().port().to_string()),
        ("UDP", udp.local_addr().unwrap().port().to_string()),
        ("ABSTRACT", name),
        ("SOCKET", path.display().to_string()),
    ];
    let tell = |mut stream: Box<dyn std::io::Write>| drop(stream.write_all(SECRET.as_bytes()));
    std::thread::spawn(move || tcp.incoming().flatten().for_each(|stream| tell(Box::new(stream))));
    std::thread::spawn(move || abstract_socket.incoming().flatten().for_each(|stream| tell(Box::new(stream))));
    std::thread::spawn(move || socket.incoming().flatten().for_each(|stream| tell(Box::new(stream))));
    std::thread::spawn(move || {
        while let Ok((_, from)) = udp.recv_from(&mut [0; 16]) {
            drop(udp.send_to(SECRET.as_bytes(), from));
        }
    });
    named
}

pub(crate) fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
    output
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
