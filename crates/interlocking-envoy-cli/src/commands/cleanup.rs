//! `plan cleanup-debug-logs`: removes marked debug logs from the current worktree.

use crate::command_line::tell;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::io::{Io, on_one_line};
use clap::Args;
use interlocking_envoy::cleanup::{Cleanup, CleanupReport, Extensions, worktree_root};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  envoy plan cleanup-debug-logs --dry-run\n  envoy plan cleanup-debug-logs --check 'cargo test'"
)]
pub(crate) struct Arguments {
    /// List what would be removed, and remove nothing
    #[arg(long, short = 'n')]
    dry_run: bool,

    /// Look into files of one more extension, whose comments begin with `//` or `#`: `tf=#`
    #[arg(long = "extension", value_name = "EXTENSION=COMMENT")]
    extensions: Vec<String>,

    /// Run this in a shell at the worktree's root afterwards, such as the build or the tests, and fail where it fails;
    /// several are run in order, up to the first that fails
    #[arg(long = "check", value_name = "COMMAND", conflicts_with = "dry_run")]
    checks: Vec<String>,
}

/// The result, as JSON.
#[derive(Serialize)]
struct ResultJson<'a> {
    #[serde(flatten)]
    report: &'a CleanupReport,
    checks: &'a [Check],
}

/// A command that was run afterwards.
#[derive(Serialize)]
struct Check {
    command: String,
    passed: bool,
}

pub(crate) fn cleanup(arguments: Arguments, json: bool, io: &mut Io) -> Result<Exit, CommandError> {
    let mut extensions = Extensions::usual();
    for extension in &arguments.extensions {
        extensions.add(extension)?;
    }
    let Some(root) = worktree_root(io.directory()) else {
        let what = format!("{} is in no git worktree", io.directory().display());
        return Err(CommandError::new(what).remedy("run it in the worktree that is to be cleaned up"));
    };
    let mut cleanup = Cleanup::new().with_extensions(extensions);
    if arguments.dry_run {
        cleanup = cleanup.dry_run();
    }
    let report = cleanup.run(&root)?;
    // JSON has them.
    if !json {
        for warning in &report.warnings {
            io.tell(&on_one_line(&format!("warning: {warning}")));
        }
        for failure in &report.failures {
            io.tell(&on_one_line(&format!("error: {failure}")));
        }
    }
    let mut checks = Vec::new();
    for command in arguments.checks {
        // Failures of the cleanup must be resolved first.
        if !report.success {
            io.tell(&format!("not checked, because not everything was removed: {command}"));
            break;
        }
        let passed = passes(&root, &command, io);
        checks.push(Check { command, passed });
        if !passed {
            break;
        }
    }
    let printed = io.result(json, &ResultJson { report: &report, checks: &checks }, || listed(&report));
    if let Some(failed) = checks.iter().find(|check| !check.passed) {
        let remedy = "mend what the removal left behind before you merge";
        let what = format!("`{}` fails after the removal", failed.command);
        let mut error = CommandError::new(what).remedy(remedy).with_exit(Exit::Failed);
        if let Err(unprinted) = printed {
            tell(&error, json, io);
            error = unprinted;
        }
        return Err(error);
    }
    printed?;
    Ok(if report.success { Exit::Done } else { Exit::Failed })
}

/// Runs a command in a shell and prints its output as messages; whether it succeeded. A shell that cannot be started is a check that
/// fails, as the files are cleaned up already.
fn passes(root: &Path, command: &str, io: &mut Io) -> bool {
    let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut run = Command::new(shell);
    let output = match run.arg(option).arg(command).current_dir(root).stdin(Stdio::null()).output() {
        Ok(output) => output,
        Err(error) => {
            io.tell(&format!("error: {shell}, in which checks run, cannot be started in {}: {error}", root.display()));
            return false;
        }
    };
    for text in [output.stdout, output.stderr] {
        let text = String::from_utf8_lossy(&text);
        if !text.trim().is_empty() {
            io.tell(text.trim_end());
        }
    }
    output.status.success()
}

fn listed(report: &CleanupReport) -> String {
    let mut text = String::new();
    for file in &report.files {
        let path = on_one_line(&file.path.display().to_string());
        for block in &file.blocks {
            let last = block.line + block.lines - 1;
            let _ = writeln!(text, "{path}:{}-{last}", block.line);
        }
    }
    let CleanupReport { markers_removed: markers, lines_removed: lines, files_modified: files, .. } = report;
    let done = if report.dry_run { "would be removed" } else { "removed" };
    let _ = writeln!(text, "{done}: {markers} markers, {lines} lines, in {} files", files.len());
    text
}
