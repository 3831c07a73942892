//! The test setup: a user's repository, another agent's place (the sibling), and the place of the attacking program.

use std::{
    collections::BTreeMap,
    io::Write as _,
    net::{TcpListener, UdpSocket},
    os::{
        linux::net::SocketAddrExt as _,
        unix::{
            fs::MetadataExt as _,
            net::{UnixDatagram, UnixListener},
            process::CommandExt as _,
        },
    },
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use interlocking_sandbox::{Confinement, Network, Sandbox};
use interlocking_worktree::{BranchName, CommitId, Configuration, Repository, Signature, Worktree};
use tempfile::TempDir;

use crate::{
    attempts::{Aim, Attempt, Needs, Script},
    scripts::{CALLS, REMOVE, SHARE, command, perl, shell},
};

pub(crate) const SECRET: &str = "the-secret-of-the-sibling";

/// How the attacker's place is isolated from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Worktree,
    Clone,
    Sandbox,
    /// A sandbox with the network left alone.
    SandboxWithNetwork,
}

impl Level {
    pub(crate) const ALL: [Self; 4] = [Self::Worktree, Self::Clone, Self::Sandbox, Self::SandboxWithNetwork];

    pub(crate) fn is_sandbox(self) -> bool {
        matches!(self, Self::Sandbox | Self::SandboxWithNetwork)
    }

    /// Whether an attempt is expected to succeed at this level.
    pub(crate) fn permits(self, attempt: &Attempt) -> bool {
        let [worktree, clone, sandbox] = attempt.succeeds;
        match self {
            Self::Worktree => worktree,
            Self::Clone => clone,
            Self::Sandbox => sandbox,
            Self::SandboxWithNetwork => sandbox || attempt.needs == Needs::Network,
        }
    }
}

pub(crate) struct Scene {
    directory: TempDir,
    pub(crate) repository: Repository,
    pub(crate) base: CommitId,
    pub(crate) place: Worktree,
    level: Level,
    victim: Victim,
    environment: Vec<(&'static str, String)>,
    shares: bool,
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
        std::os::unix::fs::symlink("somewhere", at("run/sibling/link")).unwrap();
        let place = match level {
            Level::Worktree => repository.create_worktree(at("run/attacker"), branch("attacker"), base).unwrap(),
            Level::Clone | Level::Sandbox | Level::SandboxWithNetwork => {
                repository.create_clone(at("run/attacker"), &branch("attacker"), base).unwrap()
            }
        };
        std::os::unix::fs::symlink(at("run/sibling"), at("run/attacker/planted-link")).unwrap();
        std::fs::create_dir(at("temporary")).unwrap();

        // Its arguments, environment, working directory and open files all lead to the secret.
        let victim = Command::new("sh")
            .args(["-c", "for second in $(seq 600); do sleep 1; done", SECRET])
            .process_group(0)
            .current_dir(at("run/sibling"))
            .env("TOKEN", SECRET)
            .stdin(std::fs::File::open(at("run/sibling/secret.txt")).unwrap())
            // Otherwise a process that reads the output of these tests would wait for this program.
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let victim = Victim(victim);
        let blob = run(Command::new("git").args(["rev-parse", "HEAD:secret.txt"]).current_dir(at("run/sibling")));
        let mut environment = vec![
            ("SIBLING", at("run/sibling").display().to_string()),
            ("PROJECT", at("project").display().to_string()),
            ("VICTIM", victim.0.id().to_string()),
            ("BLOB", text(&blob.stdout).trim().to_owned()),
            ("BASE", base.to_string()),
        ];
        environment.extend(CALLS.map(|(name, number)| (name, number.to_string())));
        Self { directory, repository, base, place, level, victim, environment, shares: false }
    }

    /// Adds services that return the secret to every client.
    pub(crate) fn serving(mut self) -> Self {
        self.environment.extend(services(&self.at("socket"), &self.at("datagram")));
        self
    }

    /// Shares the secret, as a program of the sibling, in shared memory, queues, a semaphore and an attribute of a file.
    pub(crate) fn sharing(mut self) -> Self {
        // The id is unique while the victim is alive.
        let id = self.victim.0.id();
        self.environment.push(("KEY", (0x1000_0000 + id).to_string()));
        self.environment.push(("NAME", format!("interlocking-red-team-{id}")));
        let shared = run(perl(SHARE).arg(SECRET).envs(self.environment.iter().cloned()));
        let numbers = text(&shared.stdout);
        self.environment
            .extend(["MEMORY", "QUEUE", "SEMAPHORE"].into_iter().zip(numbers.split(' ').map(str::to_owned)));
        self.shares = true;
        self
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

    /// The sandbox that a runtime would set up for an agent that needs git. The network is denied unless the level allows it.
    pub(crate) fn sandbox(&self) -> Sandbox {
        let network = if self.level == Level::SandboxWithNetwork { Network::Allowed } else { Network::Denied };
        Sandbox::for_place(self.place.path()).temporary_directory(self.at("temporary")).git().network(network)
    }

    /// Runs a shell script in the attacker's place, in the sandbox if the level has one.
    pub(crate) fn shell(&self, script: &str) -> Output {
        self.run(shell(script))
    }

    pub(crate) fn perl(&self, script: &str) -> Output {
        self.run(perl(script))
    }

    fn run(&self, command: Command) -> Output {
        let confinement = self.level.is_sandbox().then(|| self.sandbox().prepare().unwrap());
        self.run_in(confinement.as_ref(), command)
    }

    pub(crate) fn shell_in(&self, confinement: Option<&Confinement>, script: &str) -> Output {
        self.run_in(confinement, shell(script))
    }

    pub(crate) fn perl_in(&self, confinement: Option<&Confinement>, script: &str) -> Output {
        self.run_in(confinement, perl(script))
    }

    pub(crate) fn attempt_in(&self, confinement: Option<&Confinement>, attempt: &Attempt) -> Output {
        self.run_in(confinement, command(attempt))
    }

    fn run_in(&self, confinement: Option<&Confinement>, mut command: Command) -> Output {
        command.current_dir(self.place.path()).envs(self.environment.iter().cloned());
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("GIT_")) {
            command.env_remove(name);
        }
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("TMPDIR", self.at("temporary"))
            .env("PWD", self.place.path())
            .envs([("GIT_AUTHOR_NAME", "Eve"), ("GIT_AUTHOR_EMAIL", "eve@example.org")])
            .envs([("GIT_COMMITTER_NAME", "Eve"), ("GIT_COMMITTER_EMAIL", "eve@example.org")])
            .stdin(Stdio::null());
        match confinement {
            Some(confinement) => confinement.enter(|| command.output()).unwrap().unwrap(),
            None => command.output().unwrap(),
        }
    }

    /// Makes the attempt and returns whether it succeeded.
    pub(crate) fn attempt(&mut self, attempt: &Attempt) -> bool {
        let before = self.outside();
        let output = self.run(command(attempt));
        if matches!(attempt.script, Script::Shell(script) if script.contains("> ended")) {
            self.wait_for_the_background();
        }
        let said = text(&output.stdout);
        match attempt.aim {
            Aim::Read => {
                let stolen = std::fs::read(self.place.path().join("stolen")).unwrap_or_default();
                said.contains(SECRET) || text(&stolen).contains(SECRET)
            }
            Aim::Write => self.outside() != before,
            Aim::End => self.victim_ends(),
            Aim::Act => said.contains("done"),
        }
    }

    /// Waits for a program in the background to end. It writes the file `ended` to its own place, which it still may.
    fn wait_for_the_background(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !self.place.path().join("ended").exists() {
            assert!(Instant::now() < deadline, "the background program never ended");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whether the victim ends soon. A signal takes effect only when the program runs next.
    fn victim_ends(&mut self) -> bool {
        (0..20).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            self.victim.0.try_wait().unwrap().is_some()
        })
    }

    /// Every file outside the attacker's place, with its kind, mode, owner, modification time and contents.
    pub(crate) fn outside(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut waiting = vec![self.directory.path().to_owned()];
        while let Some(path) = waiting.pop() {
            // The files that git keeps for the attacker's linked worktree belong to the attacker.
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
            found.insert(path, format!("{:o} {} {contents}", metadata.mode(), metadata.uid()));
        }
        found
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        if self.shares {
            let _ = perl(REMOVE).envs(self.environment.iter().cloned()).status();
        }
    }
}

/// A program that is killed when its scene is dropped.
struct Victim(Child);

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts services, each of which returns the secret to every client until the test ends.
fn services(path: &Path, datagrams: &Path) -> Vec<(&'static str, String)> {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let name = format!("interlocking-red-team-{}", path.display());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let abstract_socket = UnixListener::bind_addr(&address).unwrap();
    let socket = UnixListener::bind(path).unwrap();
    let datagram = UnixDatagram::bind(datagrams).unwrap();
    let named = vec![
        ("TCP", tcp.local_addr().unwrap().port().to_string()),
        ("UDP", udp.local_addr().unwrap().port().to_string()),
        ("ABSTRACT", name),
        ("SOCKET", path.display().to_string()),
        ("DATAGRAM", datagrams.display().to_string()),
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
    std::thread::spawn(move || {
        while let Ok((_, from)) = datagram.recv_from(&mut [0; 16]) {
            drop(from.as_pathname().map(|from| datagram.send_to(SECRET.as_bytes(), from)));
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
