//! A program with broken output, for tests of agents that start programs.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A program to use instead of an agent's program. It executes the configured steps in order, and ends.
///
/// It is a shell script: `sh` runs it, and it needs `cat`, `head`, `seq`, `sleep`, `tr`, `wc`, `yes` and, for a child
/// that it leaves behind, `setsid` on its `PATH`. It writes its process id, and the ids of children that it leaves
/// behind, one per line, to a file with its own name and `.pids` appended, so that a test can check whether any of them
/// still runs.
///
/// ```
/// # use interlocking_agents::faults::FaultyProgram;
/// let directory = tempfile::tempdir()?;
/// let program = FaultyProgram::new()
///     .answering_version("2.1.0 (Claude Code)")
///     .reading_input()
///     .line(r#"{"type":"system","subtype":"init"}"#)
///     .bytes(b"{\"type\":\"assist\xff\xfe") // a line that is no UTF-8, and breaks off
///     .exit(1)
///     .write_to(directory.path().join("claude"))?;
/// let output = std::process::Command::new(&program).stdin(std::process::Stdio::null()).output()?;
/// assert_eq!(output.status.code(), Some(1));
/// assert!(output.stdout.ends_with(b"assist\xff\xfe"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "a program is made when it is written to a file"]
pub struct FaultyProgram {
    version: Option<String>,
    steps: String,
}

impl FaultyProgram {
    /// A program that ends at once with exit code 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// With `--version` as its first argument the program prints this line, and does nothing else.
    pub fn answering_version(self, version: impl Into<String>) -> Self {
        Self { version: Some(version.into()), ..self }
    }

    /// Reads its standard input to the end.
    pub fn reading_input(self) -> Self {
        self.step("cat >/dev/null")
    }

    /// Reads one line of its standard input.
    pub fn reading_line(self) -> Self {
        self.step("IFS= read -r line || :")
    }

    /// Writes a line to standard output.
    pub fn line(self, line: &str) -> Self {
        self.bytes(line.as_bytes()).bytes(b"\n")
    }

    /// Writes these bytes without a line end. They may be invalid UTF-8.
    pub fn bytes(self, bytes: &[u8]) -> Self {
        let step = format!("printf '{}'", escaped(bytes));
        self.step(&step)
    }

    /// Writes `bytes` times the letter `x`, without a line end.
    pub fn long(self, bytes: u64) -> Self {
        self.step(&format!("head -c {bytes} /dev/zero | tr '\\000' x"))
    }

    /// Writes these lines `times` times.
    pub fn repeated(self, times: u32, lines: &str) -> Self {
        let printed = escaped(lines.as_bytes());
        self.step(&format!(
            "yes \"$(printf '{printed}')\" | head -n {}",
            times as usize * (lines.matches('\n').count() + 1)
        ))
    }

    /// Writes this text `times` times, without a line end. The text must not contain a line end.
    pub fn repeated_in_line(self, times: u32, text: &str) -> Self {
        let printed = escaped(text.as_bytes());
        self.step(&format!("yes \"$(printf '{printed}')\" | head -n {times} | tr -d '\\012'"))
    }

    /// Writes `times` lines that differ in a number: `NUMBER` in the line is replaced by 1, 2, and so on.
    pub fn counted(self, times: u32, line: &str) -> Self {
        let format = line.replace('%', "%%").replace('\'', r"'\''").replace("NUMBER", "%.0f");
        self.step(&format!("seq -f '{format}' 1 {times}"))
    }

    /// Writes a line to standard error.
    pub fn error_line(self, line: &str) -> Self {
        let step = format!("printf '{}\\012' >&2", escaped(line.as_bytes()));
        self.step(&step)
    }

    /// Writes `times` lines of about 100 bytes to standard error.
    pub fn repeated_errors(self, times: u32) -> Self {
        let line = "error ".repeat(16);
        self.step(&format!("yes '{line}' | head -n {times} >&2"))
    }

    /// Writes nothing for this time.
    pub fn silence(self, time: Duration) -> Self {
        // Sleeps in short pieces, because a `sleep` outlives the shell if only the shell is killed.
        let (seconds, rest) = (time.as_secs(), time.subsec_millis());
        self.step(&format!("i=0; while [ $i -lt {seconds} ]; do sleep 1; i=$((i+1)); done; sleep 0.{rest:03}"))
    }

    /// Ignores SIGTERM, SIGINT and SIGHUP from here on.
    pub fn ignoring_signals(self) -> Self {
        self.step("trap '' TERM INT HUP")
    }

    /// Leaves a process behind, in its own session, that ignores signals and keeps standard output open.
    pub fn leaving_a_child(self) -> Self {
        self.step(
            "before=$(wc -l <\"$pids\")\n\
             setsid sh -c 'trap \"\" TERM INT HUP; echo $$ >>\"$0\"; while :; do sleep 1; done' \"$pids\" &\n\
             while [ \"$(wc -l <\"$pids\")\" -le \"$before\" ]; do sleep 0.01; done",
        )
    }

    /// Ends the program here with this exit code.
    pub fn exit(self, code: u8) -> Self {
        self.step(&format!("exit {code}"))
    }

    /// Ends the program here by SIGKILL.
    pub fn kill_itself(self) -> Self {
        self.step("kill -KILL $$")
    }

    /// Writes the program to a file, and returns its path.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write_to(&self, file: impl Into<PathBuf>) -> io::Result<PathBuf> {
        let file = file.into();
        let mut script = "#!/bin/sh\n".to_owned();
        if let Some(version) = &self.version {
            let version = escaped(version.as_bytes());
            let _ = writeln!(script, "if [ \"$1\" = --version ]; then printf '{version}\\012'; exit 0; fi");
        }
        let _ = writeln!(script, "pids=\"$0.pids\"\necho $$ >>\"$pids\"\n{}", self.steps);
        write_executable(&file, &script)?;
        Ok(file)
    }

    /// The process ids that the program in `file` has written down: its own, for each time that it ran, and those of
    /// the children that it left behind.
    ///
    /// # Errors
    ///
    /// There are none, because the program has not run.
    pub fn recorded_pids(file: &Path) -> io::Result<Vec<u32>> {
        let mut name = file.as_os_str().to_owned();
        name.push(".pids");
        Ok(fs::read_to_string(name)?.lines().filter_map(|line| line.trim().parse().ok()).collect())
    }

    fn step(mut self, step: &str) -> Self {
        self.steps.push_str(step);
        self.steps.push('\n');
        self
    }
}

/// Lets another process write the file. If this process wrote it, a child that another thread is starting could still
/// have it open for writing when the file is executed, and the system would refuse that ("text file busy").
fn write_executable(file: &Path, script: &str) -> io::Result<()> {
    let mut writer =
        Command::new("sh").args(["-c", "cat >\"$0\" && chmod 755 \"$0\""]).arg(file).stdin(Stdio::piped()).spawn()?;
    let sent = writer.stdin.take().map_or(Ok(()), |mut input| input.write_all(script.as_bytes()));
    let ended = writer.wait()?;
    sent?;
    if ended.success() { Ok(()) } else { Err(io::Error::other(format!("{} cannot be written", file.display()))) }
}

/// Escapes bytes for the format of `printf` between single quotes: all special bytes are written in octal.
fn escaped(bytes: &[u8]) -> String {
    let mut format = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'\'' | b'\\' | b'%' | ..=0x1f | 0x7f.. => {
                let _ = write!(format, "\\{byte:03o}");
            }
            plain => format.push(plain.into()),
        }
    }
    format
}
