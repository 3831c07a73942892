//! Performs the actions of a script: writes files in the workspace and runs commands there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::action_error::ActionProblem;
use super::script::{Action, ActionKind, Append, ExpectedExit, Remove, Replace, Run, ScriptPath, Write};
use crate::agent::TurnContext;
use crate::agent::event::AgentEvent;
use crate::scripted::command::{self, Surroundings};

/// Performs one action and reports it.
///
/// Files are written synchronously on purpose: a turn that is cancelled changes nothing afterwards.
pub(super) async fn act(
    context: &TurnContext<'_>,
    action: &Action,
    workspace: Option<&Path>,
    surroundings: &Surroundings<'_>,
) -> Result<(), ActionProblem> {
    let workspace = existing(workspace)?;
    let event = match &action.kind {
        ActionKind::Write(write) => on_file(workspace, &write.path, |file| write.perform(file))?,
        ActionKind::Append(append) => on_file(workspace, &append.path, |file| append.perform(file))?,
        ActionKind::Replace(replace) => {
            let count = on_text(workspace, replace)?;
            if count != 1 {
                let (path, find) = (replace.path.as_path().to_owned(), replace.find.as_str().to_owned());
                return Err(ActionProblem::NotOnce { path, find, count });
            }
            written(&replace.path)
        }
        ActionKind::Remove(remove) => {
            // The link itself may be removed, so only the path to it is checked.
            let parent = remove.path.as_path().parent().unwrap_or(Path::new(""));
            refuse_links(workspace, remove.path.as_path(), parent)?;
            remove
                .perform(&workspace.join(remove.path.as_path()))
                .map_err(|error| file_problem(&remove.path, &error))?;
            AgentEvent::FileRemoved { path: remove.path.as_path().to_owned() }
        }
        ActionKind::Run(run) => {
            let _working = context.working();
            run.perform(workspace, surroundings).await?
        }
        ActionKind::Commit(commit) => {
            let _working = context.working();
            commit.perform(workspace, surroundings).await?
        }
    };
    context.emit(event);
    Ok(())
}

/// The turn's workspace, which must exist.
pub(super) fn existing(workspace: Option<&Path>) -> Result<&Path, ActionProblem> {
    let workspace = workspace.ok_or(ActionProblem::NoWorkspace)?;
    if workspace.is_dir() {
        Ok(workspace)
    } else {
        Err(ActionProblem::WorkspaceMissing { workspace: workspace.to_owned() })
    }
}

fn on_file(
    workspace: &Path,
    path: &ScriptPath,
    perform: impl FnOnce(&Path) -> io::Result<()>,
) -> Result<AgentEvent, ActionProblem> {
    refuse_links(workspace, path.as_path(), path.as_path())?;
    let file = workspace.join(path.as_path());
    let parents = file.parent().map_or(Ok(()), fs::create_dir_all);
    parents.and_then(|()| perform(&file)).map_err(|error| file_problem(path, &error))?;
    Ok(written(path))
}

/// Replaces the text if it occurs exactly once; returns how often it occurs.
fn on_text(workspace: &Path, replace: &Replace) -> Result<usize, ActionProblem> {
    refuse_links(workspace, replace.path.as_path(), replace.path.as_path())?;
    let file = workspace.join(replace.path.as_path());
    let text = fs::read_to_string(&file).map_err(|error| file_problem(&replace.path, &error))?;
    let count = text.matches(replace.find.as_str()).count();
    if count == 1 {
        fs::write(&file, text.replacen(replace.find.as_str(), &replace.with, 1))
            .map_err(|error| file_problem(&replace.path, &error))?;
    }
    Ok(count)
}

impl Write {
    fn perform(&self, file: &Path) -> io::Result<()> {
        fs::write(file, &self.content)?;
        #[cfg(unix)]
        if self.executable {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(file, fs::Permissions::from_mode(0o755))?;
        }
        Ok(())
    }
}

impl Append {
    fn perform(&self, file: &Path) -> io::Result<()> {
        use io::Write as _;
        fs::OpenOptions::new().create(true).append(true).open(file)?.write_all(self.content.as_bytes())
    }
}

impl Remove {
    fn perform(&self, target: &Path) -> io::Result<()> {
        if fs::symlink_metadata(target)?.is_dir() { fs::remove_dir_all(target) } else { fs::remove_file(target) }
    }
}

impl Run {
    async fn perform(&self, workspace: &Path, surroundings: &Surroundings<'_>) -> Result<AgentEvent, ActionProblem> {
        let command = self.command.as_slice().to_vec();
        let ended = match command::run(&command, workspace, surroundings).await {
            Ok(ended) => ended,
            Err(error) => return Err(ActionProblem::NotStarted { command, reason: error.to_string() }),
        };
        match self.exit {
            ExpectedExit::Code(expected) if ended.exit != Some(expected) => {
                let (exit, last_words) = (ended.exit, ended.last_words());
                Err(ActionProblem::WrongExit { command, expected, exit, last_words })
            }
            _ => Ok(AgentEvent::CommandRun { command, exit: ended.exit }),
        }
    }
}

/// Refuses `path` if any part of `checked`, a prefix of it, is a symbolic link.
fn refuse_links(workspace: &Path, path: &Path, checked: &Path) -> Result<(), ActionProblem> {
    let mut link = PathBuf::new();
    for component in checked.components() {
        link.push(component);
        if fs::symlink_metadata(workspace.join(&link)).is_ok_and(|metadata| metadata.is_symlink()) {
            return Err(ActionProblem::ThroughLink { path: path.to_owned(), link });
        }
    }
    Ok(())
}

fn written(path: &ScriptPath) -> AgentEvent {
    AgentEvent::FileWritten { path: path.as_path().to_owned() }
}

fn file_problem(path: &ScriptPath, error: &io::Error) -> ActionProblem {
    ActionProblem::File { path: path.as_path().to_owned(), reason: error.to_string() }
}
