//! A program that speaks a broken stream, for tests of agents that start programs.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A program, in place of an agent's own, that does on its standard output what it is told to, in that order, and ends.
///
/// It is a shell script: `sh` runs it, and it finds `cat`, `head`, `seq`, `sleep`, `tr`, `wc`, `yes` and, for a child that leaves, `setsid` on the
/// `PATH` that it is given. It notes its process id, and those of children that it leaves behind, one a line, in a file with
/// `.pids` behind its own name, so that a test can see whether anything still runs.
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
    /// A program that ends at once, with exit code 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// With `--version` as its first argument it says this, and nothing else.
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

    /// Writes a line.
    pub fn line(self, line: &str) -> Self {
        self.bytes(line.as_bytes()).bytes(b"\n")
    }

    /// Writes these bytes, whatever they are, and ends no line.
    pub fn bytes(self, bytes: &[u8]) -> Self {
        let step = format!("printf '{}'", escaped(bytes));
        self.step(&step)
    }

    /// Writes so many `x`, and ends no line.
    pub fn long(self, bytes: u64) -> Self {
        self.step(&format!("head -c {bytes} /dev/zero | tr '\\000' x"))
    }

    /// Writes these lines so often.
    pub fn repeated(self, times: u32, lines: &str) -> Self {
        let printed = escaped(lines.as_bytes());
        self.step(&format!(
            "yes \"$(printf '{printed}')\" | head -n {}",
            times as usize * (lines.matches('\n').count() + 1)
        ))
    }

    /// Writes this text so often, and ends no line. The text is one without a line's end.
    pub fn repeated_in_line(self, times: u32, text: &str) -> Self {
        let printed = escaped(text.as_bytes());
        self.step(&format!("yes \"$(printf '{printed}')\" | head -n {times} | tr -d '\\012'"))
    }

    /// Writes so many lines that differ in a number: `NUMBER` in the line stands for 1, 2, and so on.
    pub fn counted(self, times: u32, line: &str) -> Self {
        let format = line.replace('%', "%%").replace('\'', r"'\''").replace("NUMBER", "%.0f");
        self.step(&format!("seq -f '{format}' 1 {times}"))
    }

    /// Writes a line to standard error.
    pub fn error_line(self, line: &str) -> Self {
        let step = format!("printf '{}\\012' >&2", escaped(line.as_bytes()));
        self.step(&step)
    }

    /// Writes so many lines of about 100 bytes to standard error.
    pub fn repeated_errors(self, times: u32) -> Self {
        let line = "error ".repeat(16);
        self.step(&format!("yes '{line}' | head -n {times} >&2"))
    }

    /// Says nothing for so long.
    pub fn silence(self, time: Duration) -> Self {
        // In short pieces: what the shell waits for outlives it when the shell alone is killed.
        let (seconds, rest) = (time.as_secs(), time.subsec_millis());
        self.step(&format!("i=0; while [ $i -lt {seconds} ]; do sleep 1; i=$((i+1)); done; sleep 0.{rest:03}"))
    }

    /// Takes no notice of SIGTERM and SIGINT from here on.
    pub fn ignoring_signals(self) -> Self {
        self.step("trap '' TERM INT HUP")
    }

    /// Leaves a process behind, in a session of its own, that takes no notice of signals and holds standard output open.
    pub fn leaving_a_child(self) -> Self {
        self.step(
            "before=$(wc -l <\"$pids\")\n\
             setsid sh -c 'trap \"\" TERM INT HUP; echo $$ >>\"$0\"; while :; do sleep 1; done' \"$pids\" &\n\
             while [ \"$(wc -l <\"$pids\")\" -le \"$before\" ]; do sleep 0.01; done",
        )
    }

    /// Ends here, with this exit code.
    pub fn exit(self, code: u8) -> Self {
        self.step(&format!("exit {code}"))
    }

    /// Ends here, killed by a signal.
    pub fn kill_itself(self) -> Self {
        self.step("kill -KILL $$")
    }

    /// Makes the program, and gives the path back.
    ///
    /// # Errors
    ///
    /// That it cannot be written there.
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

    /// The process ids that a program which was written to `file` has noted: its own, each time it ran, and those of the
    /// children that it left behind.
    ///
    /// # Errors
    ///
    /// That there are none, as it has not run.
    pub fn noted(file: &Path) -> io::Result<Vec<u32>> {
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

/// Has another process write the file. If this one did, a process that some other thread is just starting could still hold it
/// open for writing when it is to be run, which the system refuses ("text file busy").
fn write_executable(file: &Path, script: &str) -> io::Result<()> {
    let mut writer =
        Command::new("sh").args(["-c", "cat >\"$0\" && chmod 755 \"$0\""]).arg(file).stdin(Stdio::piped()).spawn()?;
    let sent = writer.stdin.take().map_or(Ok(()), |mut input| input.write_all(script.as_bytes()));
    let ended = writer.wait()?;
    sent?;
    if ended.success() { Ok(()) } else { Err(io::Error::other(format!("{} cannot be written", file.display()))) }
}

/// As the format of `printf`, between single quotes: everything that could mean something, in octal.
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
