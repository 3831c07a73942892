//! Agents did not complete their work, or their reports are not true (SAW-43).

use super::{question, stop};
use crate::document::{self, Impl};
use crate::graph::{AgentFailureAnswer, Assignment, Blocked, BlockedQuestion, Executed, Sent, scout_and_wave};
use crate::handlers::pending::done;
use crate::handlers::recover::{clear_up, uncommitted_on};
use crate::handlers::staging::{STAGING, change_document, text_of};
use crate::handlers::{BlockedAgent, go_to};
use crate::protocol::agent::{AgentLetter, Post};
use crate::protocol::prediction::Facts;
use crate::protocol::report::{CompletionReport, ReportedCommit, Status, Verification};
use crate::protocol::state::State;
use crate::request::Request;
use interlocking::prelude::*;
use interlocking::workspaces::{FilePath, GitWorkspacesError, in_repository, text_at, touched_paths};
use interlocking::worktree::{CommitId, FileChange, FileChangeKind, FileError, WorktreeEntry};
use std::ffi::OsStr;
use std::path::Path;

impl HumanHandler<scout_and_wave::blocked_agent> for BlockedAgent {
    async fn ask(
        &self,
        blocked: &Blocked,
        cx: &mut Cx<'_, scout_and_wave::blocked_agent>,
    ) -> Result<BlockedQuestion, NodeError> {
        let is_alone = blocked.executed.iter().any(|executed| executed.launch.only().is_some());
        let fixed = match is_alone {
            true => {
                "you have put its work right in the staging worktree; what is not committed there will be. What it has reported of \
                 deviations and of files that are not its own counts"
            }
            false => {
                "you have committed what was missing in their worktrees, which `git worktree list` shows by branches such as \
                 wave1-agent-a; what they report of deviations and of files that are not theirs counts as it stands in the document in \
                 the staging worktree, where you may correct it"
            }
        };
        let fixed = format!("{{\"fixed\": {{\"agents\": [\"A\"]}}}}: {fixed}");
        let ways = [
            "{\"rerun\": {\"agents\": [\"A\"]}}: these agents are sent to work again, from the beginning",
            &fixed,
            "{\"descope\": {\"agents\": [\"A\"]}}: the wave goes on without them",
            "\"stop\": the run ends",
        ];
        question(blocked, &ways, cx).await
    }

    async fn answered(
        &self,
        blocked: Blocked,
        answer: AgentFailureAnswer,
        cx: &mut Cx<'_, scout_and_wave::blocked_agent>,
    ) -> Route<scout_and_wave::blocked_agent> {
        let mut executed = blocked.executed.clone().ok_or("a wave without a launch is blocked by its agents")?;
        let is_of_wave =
            |letter: &&AgentLetter| executed.launch.assignments.iter().any(|sent| sent.post.agent == **letter);
        if let Some(stranger) = answer.agents().iter().find(|letter| !is_of_wave(letter)) {
            return again(blocked, [format!("wave {} has no agent {stranger}", executed.launch.wave)], cx);
        }
        match answer {
            AgentFailureAnswer::Stop => return stop(blocked, cx),
            AgentFailureAnswer::Rerun { agents } => {
                keep_work(&mut executed, &agents, cx).await?;
                let mut launch = executed.launch;
                launch.descoped.retain(|letter| !agents.contains(letter));
                for sent in launch.assignments.iter_mut().filter(|sent| agents.contains(&sent.post.agent)) {
                    sent.generation += 1;
                    let (label, generation) = (sent.post.label(), sent.generation);
                    // It does its work again, so its earlier commits are not kept.
                    sent.kept = None;
                    let sent = Sent { generation, section: sent.section.clone(), base: sent.base };
                    cx.update_memory(move |progress| _ = progress.sent.insert(label.clone(), sent.clone()));
                }
                // New worktrees begin where the wave began.
                cx.worktree_of(STAGING).await?.reset(launch.base).await?;
                go_to(cx, State::WaveExecuting)?;
                return match launch.only() {
                    Some(_) => goto!(cx, scout_and_wave::solo, launch),
                    None => goto!(cx, scout_and_wave::agents, launch),
                };
            }
            AgentFailureAnswer::Fixed { agents } => match fixed(executed, &agents, cx).await? {
                Ok(with_fixed) => executed = with_fixed,
                Err(problem) => return again(blocked, [problem], cx),
            },
            AgentFailureAnswer::Descope { agents } => {
                executed.facts.retain(|(post, _)| !agents.contains(&post.agent));
                executed.launch.descoped.extend(agents);
                if executed.launch.working().next().is_none() {
                    return again(blocked, ["no agent would be left: stop the run instead".to_owned()], cx);
                }
            }
        }
        let undecided = undecided(&executed, cx).await?;
        if !undecided.is_empty() {
            // The answer about the other agents holds.
            return again(Blocked { executed: Some(executed), ..blocked }, undecided, cx);
        }
        // A solo wave has nothing to merge.
        let is_alone = executed.launch.only().is_some();
        go_to(cx, if is_alone { State::WaveExecuting } else { State::WaveMerging })?;
        goto!(cx, scout_and_wave::predict, executed)
    }
}

/// Agents whose work is not in the results of their own runs keep it when their wave begins again, unless they are to `rerun`: work
/// that another run has made, and this run has recovered, and work that a person has put right. The branches of another run, whose
/// names the agents are to have, go.
async fn keep_work(
    executed: &mut Executed,
    rerun: &[AgentLetter],
    cx: &mut Cx<'_, scout_and_wave::blocked_agent>,
) -> Result<(), NodeError> {
    let (request, sent) = (cx.entry()?.clone(), cx.memory().sent);
    for done in done(Some(executed.clone()), request.document()?, cx).await? {
        let label = done.post.label();
        let is_recovered = sent.get(&label).is_some_and(|sent| sent.generation == 0);
        let is_fixed = executed.fixed.contains(&done.post.agent) && !rerun.contains(&done.post.agent);
        let assignment = executed.launch.assignments.iter_mut().find(|assignment| assignment.post == done.post);
        let Some(assignment) = assignment.filter(|_| is_recovered || is_fixed) else { continue };
        // The run of the agent ended without the person's work.
        assignment.generation += u32::from(is_fixed);
        let generation = assignment.generation;
        cx.update_memory(move |progress| {
            if let Some(sent) = progress.sent.get_mut(&label) {
                sent.generation = generation;
            }
        });
        assignment.kept = Some(done);
    }
    match request {
        Request::Recover { run, .. } => clear_up(&run, cx).await,
        _ => Ok(()),
    }
}

/// Asks the question again, with the reason why the answer cannot be followed, or not completely.
fn again(
    blocked: Blocked,
    problems: impl IntoIterator<Item = String>,
    cx: &mut Cx<'_, scout_and_wave::blocked_agent>,
) -> Route<scout_and_wave::blocked_agent> {
    let mut blocked = blocked;
    blocked.problems.extend(problems);
    goto!(cx, self, blocked)
}

/// The agents whose work is not complete, and that no answer has named: while there is one, nothing is merged (SAW-44).
async fn undecided(
    executed: &Executed,
    cx: &mut Cx<'_, scout_and_wave::blocked_agent>,
) -> Result<Vec<String>, NodeError> {
    let file = cx.entry()?.document()?.clone();
    let read = Impl::read(file.as_str(), &text_of(&cx.worktree_of(STAGING).await?, &file).await?)?;
    let is_complete = |post: &Post| {
        executed.facts.iter().any(|(known, _)| known == post)
            && read.report(&post.agent).is_some_and(CompletionReport::is_complete)
    };
    let undecided = executed.launch.working().map(|sent| &sent.post).filter(|post| !is_complete(post));
    Ok(undecided.map(|post| format!("agent {} has not completed its work: name it, too", post.agent)).collect())
}

/// The state of an agent's work, and its changes.
type Work = (Facts, Vec<FileChange>);

/// The current work of these agents, after a person has worked on it (SAW-43). The inner error is the reason why it cannot be
/// used.
async fn fixed(
    mut executed: Executed,
    agents: &[AgentLetter],
    cx: &mut Cx<'_, scout_and_wave::blocked_agent>,
) -> Result<Result<Executed, String>, NodeError> {
    let (wave, is_alone) = (executed.launch.wave, executed.launch.only().is_some());
    let file = cx.entry()?.document()?.clone();
    let mut reports = Vec::new();
    for letter in agents {
        let sent = executed.launch.assignments.iter().find(|sent| sent.post.agent == *letter);
        let sent = sent.ok_or_else(|| format!("wave {wave} has no agent {letter}"))?;
        let post = sent.post.clone();
        let before = executed.facts.iter().find(|(known, _)| *known == post).map(|(_, facts)| facts.clone());
        let found = match is_alone {
            true => in_staging(sent, before.as_ref(), cx).await?,
            false => on_branch(sent, executed.launch.base, cx).await?,
        };
        let (facts, changes) = match found {
            Ok(found) => found,
            Err(problem) => return Ok(Err(problem)),
        };
        if !facts.uncommitted.is_empty() {
            let files: Vec<_> = facts.uncommitted.iter().map(|file| format!("`{file}`")).collect();
            let (label, files) = (post.label(), files.join(", "));
            return Ok(Err(format!(
                "the worktree of `{label}` has changes that are not committed: commit or remove {files}"
            )));
        }
        let read = Impl::read(file.as_str(), &text_of(&cx.worktree_of(STAGING).await?, &file).await?)?;
        let reported = read.report(letter).or(executed.unwritten.as_ref());
        reports.push((post.clone(), report_by_hand(post.worktree(is_alone), facts.head, &changes, reported)?));
        executed.launch.descoped.remove(letter);
        executed.fixed.insert(letter.clone());
        executed.facts.retain(|(known, _)| *known != post);
        executed.facts.push((post, facts));
    }
    executed.facts.sort_by(|one, other| one.0.cmp(&other.0));
    change_document(cx, &format!("docs: wave {wave} is finished by hand"), |file, text| {
        reports
            .iter()
            .try_fold(text.to_owned(), |text, (post, report)| document::with_report(file, &text, post, report))
    })
    .await?;
    Ok(Ok(executed))
}

/// The work on the branch of an agent since it left the history of `base`, at which the wave was launched last, and the state of
/// its worktree, if that exists.
async fn on_branch(
    sent: &Assignment,
    base: CommitId,
    cx: &mut Cx<'_, scout_and_wave::blocked_agent>,
) -> Result<Result<Work, String>, NodeError> {
    let (branch, key) = (sent.post.branch()?, sent.post.key(sent.generation));
    // The worktrees of this run's agents are in the directory of its staging worktree, each in a directory `KEY-…` there.
    let directory = cx.worktree_of(STAGING).await?.path().parent().ok_or("the staging worktree is nowhere")?.to_owned();
    in_repository(cx.repository()?, move |repository| {
        let Some(head) = repository.branch_head(&branch)? else {
            return Ok(Err(format!("there is no branch `{branch}`")));
        };
        let base = repository.merge_base(base, head)?.unwrap_or(base);
        let changes = repository.diff(base, head)?;
        let is_on_branch = |entry: &WorktreeEntry| entry.branch.as_ref() == Some(&branch);
        let is_its_own = |entry: &WorktreeEntry| {
            let name = entry.path.parent().and_then(Path::file_name).and_then(OsStr::to_str);
            name.and_then(|name| name.rsplit_once('-')).is_some_and(|(of, _)| of == key)
        };
        let is_elsewhere = |entry: &WorktreeEntry| !entry.is_missing && is_its_own(entry) && !is_on_branch(entry);
        // What is there would be left out (SAW-17).
        if repository.worktrees_in(directory)?.iter().any(is_elsewhere) {
            return Ok(Err(format!(
                "the worktree of `{branch}` is not on its branch: `git switch {branch}` there, and commit"
            )));
        }
        let uncommitted = uncommitted_on(&branch, head, repository)?;
        Ok(Ok((Facts { base, head, touched: touched_paths(&changes), uncommitted }, changes)))
    })
    .await
}

/// The work in the staging worktree, where the only agent of a wave works, and a person after it: all of it is committed. The inner
/// error is the reason why it cannot be used.
async fn in_staging(
    only: &Assignment,
    before: Option<&Facts>,
    cx: &mut Cx<'_, scout_and_wave::blocked_agent>,
) -> Result<Result<Work, String>, NodeError> {
    let (base, document) = (only.base, &only.document);
    let planned = text_at(cx.repository()?, base, document).await?;
    let mut staging = cx.worktree_of(STAGING).await?;
    // Only the orchestrator writes the document, so what the agent wrote there is reverted. If the agent has not reported, nothing
    // else was written there.
    let is_agents = before.is_none_or(|Facts { touched, uncommitted, .. }| {
        [touched, uncommitted].iter().any(|files| files.contains(document.as_str()))
    });
    let there = match planned.filter(|_| is_agents) {
        Some(planned) => staging.write_file(document.in_repository(), planned).await.map(|()| true),
        None => staging.text(document.in_repository()).await.map(|text| text.is_ok_and(|text| text.is_some())),
    };
    match there {
        Ok(true) => {}
        Ok(false) | Err(GitWorkspacesError::File(FileError::NotAFile { .. } | FileError::NotADirectory { .. })) => {
            return Ok(Err(format!("`{document}` in the staging worktree is no file: put back the one of {base}")));
        }
        Err(error) => return Err(error.into()),
    }
    let committed = staging.commit(format!("fix: {}, by hand", only.post.label())).await?;
    let head = committed.unwrap_or_else(|| staging.head());
    let mut changes = in_repository(cx.repository()?, move |repository| Ok(repository.diff(base, head)?)).await?;
    changes.retain(|change| change.touched().all(|path| path.to_text() != document.as_str()));
    // If only the document differs, no work was done.
    let head = if changes.is_empty() { base } else { head };
    Ok(Ok((Facts { base, head, touched: touched_paths(&changes), uncommitted: Default::default() }, changes)))
}

/// The report of work that a person has finished: facts that git knows, and what the agent has reported that others
/// have to know.
fn report_by_hand(
    worktree: String,
    head: CommitId,
    changes: &[FileChange],
    reported: Option<&CompletionReport>,
) -> Result<CompletionReport, NodeError> {
    let (mut files_changed, mut files_created) = (Vec::new(), Vec::new());
    for change in changes {
        for path in change.touched() {
            let path = FilePath::new(path.to_text())?;
            match change.kind {
                FileChangeKind::Added => files_created.push(path),
                _ => files_changed.push(path),
            }
        }
    }
    Ok(CompletionReport {
        status: Status::Complete,
        worktree,
        commit: ReportedCommit::Hash(head.to_string()),
        files_changed,
        files_created,
        interface_deviations: reported.map(|report| report.interface_deviations.clone()).unwrap_or_default(),
        out_of_scope_deps: reported.map(|report| report.out_of_scope_deps.clone()).unwrap_or_default(),
        tests_added: Vec::new(),
        verification: Verification::by_hand(),
        notes: "A person has finished this by hand.".to_owned(),
    })
}
