//! Recovers a wave of another run whose journal is lost, from the document and git (SAW-105, SAW-110, CON-105).

use super::merge::descoped_in;
use super::staging::STAGING;
use super::{Recover, go_to};
use crate::document::Impl;
use crate::graph::{Assignment, Executed, Launch, Next, SawResult, ScoutAndWave, Sent, scout_and_wave};
use crate::protocol::agent::Post;
use crate::protocol::plan::AppendOnly;
use crate::protocol::prediction::Facts;
use crate::protocol::report::{CompletionReport, ReportedCommit};
use crate::protocol::state::State;
use interlocking::graph::Node;
use interlocking::prelude::*;
use interlocking::workspaces::{FilePath, LeftoverRun, in_repository, text_at, touched_paths};
use interlocking::worktree::{BranchName, CommitId, Repository, WorktreeEntry};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The most bytes of a file that is compared with what the plan adds to it.
const LONGEST: u64 = 16 << 20;

/// The commit that an agent reports does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the work of `{branch}` is lost: it reports the commit {commit}, which is not merged, and there is no such branch. Bring the branch back \
     (`git branch {branch} {commit}`), then resume the run with --retry"
)]
pub(crate) struct DataLoss {
    /// The branch.
    branch: String,
    /// The reported commit.
    commit: String,
}

impl LogicHandler<scout_and_wave::recover> for Recover {
    async fn run(&self, run: RunId, cx: &mut Cx<'_, scout_and_wave::recover>) -> Route<scout_and_wave::recover> {
        let document = cx.entry()?.document()?.clone();
        let repository = cx.repository()?;
        let (target, base) = cx.target().await?;
        let text = text_at(repository.clone(), base, &document).await?;
        let landed = Impl::read(document.as_str(), &text.ok_or(format!("there is no `{document}` on `{target}`"))?)?;
        let number = landed.next_wave();
        let Some(wave) = landed.wave(number) else {
            // That run had landed its last wave.
            clear_up(&run, cx).await?;
            let waves = landed.wave_count();
            return goto!(cx, scout_and_wave::exit, SawResult::Complete { waves, commit: base });
        };
        // `pending` removes what is not needed of that run: until this node's outcome is recorded, it can begin again.
        let left = staging_of(&run, base, cx).await?;
        // An agent that is alone works beside the document there, so the plan in it counts only if it is the one on the target.
        let Some((staging, text, read)) = left.filter(|(.., read)| read.has_plan_of(&landed)) else {
            return goto!(cx, scout_and_wave::pending, Next::wave(number));
        };
        // The merge has written them; before it only the journal knows them.
        let descoped = descoped_in(document.as_str(), &text, number, wave);
        let (mut assignments, mut facts) = (Vec::new(), Vec::new());
        for files in &wave.agents {
            let post = Post { wave: number, agent: files.agent.clone() };
            let section = read.prompt(&files.agent).map(|(_, section)| section.clone()).unwrap_or_default();
            let completed = read.report(&files.agent).filter(|report| report.is_complete());
            if let Some(report) = completed.filter(|_| !descoped.contains(&files.agent)) {
                let is_alone = wave.agents.len() == 1 && !post.has_worktree_by(&section);
                let alone = match is_alone {
                    true => head_before_report(&document, &post, report, staging, repository.clone()).await?,
                    false => None,
                };
                let head = match alone {
                    Some(head) => head,
                    None => head_of(&post, report, staging, repository.clone()).await?,
                };
                facts.push((post.clone(), facts_of(&post, head, base, repository.clone()).await?));
                let sent = Sent { generation: 0, section: section.clone(), base };
                let label = post.label();
                cx.update_memory(move |progress| _ = progress.sent.insert(label.clone(), sent.clone()));
            }
            let (wave_size, document) = (wave.agents.len(), document.clone());
            assignments.push(Assignment { post, generation: 1, wave_size, base, document, section, kept: None });
        }
        if facts.is_empty() && descoped.is_empty() {
            return goto!(cx, scout_and_wave::pending, Next::wave(number));
        }
        // An agent that has reported or is descoped was launched, so the document was approved.
        go_to(cx, State::WavePending)?;
        cx.update_memory(move |progress| progress.wave = Some(number));
        // The reports, and everything that was merged.
        cx.worktree_of(STAGING).await?.reset(staging).await?;
        let launch = Launch { wave: number, base, contracts_hash: read.contracts_hash, assignments, descoped };
        let is_whole = facts.len() == launch.working().count();
        let is_alone = launch.only().is_some();
        let executed = Executed::new(launch, facts);
        if !is_whole {
            if let Some((post, facts)) = executed.facts.iter().find(|(_, facts)| !facts.uncommitted.is_empty()) {
                return Err(not_committed(&format!("the worktree of `{}`", post.label()), &facts.uncommitted));
            }
            // Agents that have not completed their work begin again, under their old names.
            return goto!(cx, scout_and_wave::pending, Next { wave: number, executed: Some(executed) });
        }
        go_to(cx, State::WaveExecuting)?;
        if !is_alone {
            go_to(cx, State::WaveMerging)?;
        }
        goto!(cx, scout_and_wave::predict, executed)
    }
}

/// The head of the staging branch of a run, and the document there, as text and read; none if there is no such branch, or it did
/// not begin at the target's current head.
async fn staging_of(
    run: &RunId,
    base: CommitId,
    cx: &Cx<'_, scout_and_wave::recover>,
) -> Result<Option<(CommitId, String, Impl)>, NodeError> {
    let Some(left) = left_of(run, cx).await? else { return Ok(None) };
    let Some((_, staging)) = left.branch(STAGING)? else { return Ok(None) };
    let repository = cx.repository()?;
    let is_on_target =
        in_repository(repository.clone(), move |repository| Ok(repository.is_ancestor(base, staging)?)).await?;
    let document = cx.entry()?.document()?.clone();
    let text = text_at(repository, staging, &document).await?.filter(|_| is_on_target);
    Ok(text.and_then(|text| Impl::read(document.as_str(), &text).ok().map(|read| (staging, text, read))))
}

/// The commit at which an agent that was alone ended: what the orchestrator has built its report on. The agent may have made it
/// after the one that it reports (CON-111).
async fn head_before_report(
    document: &FilePath,
    post: &Post,
    report: &CompletionReport,
    staging: CommitId,
    repository: Repository,
) -> Result<Option<CommitId>, NodeError> {
    let (document, agent, reported) = (document.clone(), post.agent.clone(), report.commit.clone());
    in_repository(repository, move |repository| {
        let mut at = staging;
        while let Some(before) = repository.commit(at)?.parents.first().copied() {
            let text = repository.read_file(before, document.in_repository())?.unwrap_or_default();
            let read = Impl::read(document.as_str(), &String::from_utf8_lossy(&text)).ok();
            if read.is_none_or(|read| read.report(&agent).is_none_or(|report| report.commit != reported)) {
                return Ok(Some(before));
            }
            at = before;
        }
        Ok(None)
    })
    .await
}

/// The commit of an agent's work: the head of its branch, or, if that is gone, the commit that it reports, which is merged
/// (SAW-110).
async fn head_of(
    post: &Post,
    report: &CompletionReport,
    staging: CommitId,
    repository: Repository,
) -> Result<CommitId, NodeError> {
    let branch = post.branch()?;
    let commit = match &report.commit {
        ReportedCommit::Hash(hash) => hash.clone(),
        ReportedCommit::Uncommitted => String::from("none"),
    };
    let lost = DataLoss { branch: branch.to_string(), commit: commit.clone() };
    let found = in_repository(repository, move |repository| {
        if let Some(head) = repository.branch_head(&branch)? {
            return Ok(Some(head));
        }
        // An agent's text counts as a revision only if it is a hash.
        let is_hash = commit.len() >= 7 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        let reported = is_hash.then(|| repository.resolve(&commit).ok()).flatten();
        let is_merged = |reported: &CommitId| repository.is_ancestor(*reported, staging).unwrap_or(false);
        Ok(reported.filter(is_merged))
    });
    Ok(found.await?.ok_or(lost)?)
}

/// An agent's work that ended at `head`. It began where it left the history of the target branch, which is at `target`
/// now.
async fn facts_of(post: &Post, head: CommitId, target: CommitId, repository: Repository) -> Result<Facts, NodeError> {
    let branch = post.branch()?;
    in_repository(repository, move |repository| {
        let base = repository.merge_base(target, head)?.unwrap_or(target);
        let touched = touched_paths(&repository.diff(base, head)?);
        let uncommitted = uncommitted_on(&branch, head, repository)?;
        Ok(Facts { base, head, touched, uncommitted })
    })
    .await
}

/// The files in the worktree of a branch, if it is still there, that differ from the head of the branch (SAW-17).
pub(super) fn uncommitted_on(
    branch: &BranchName,
    head: CommitId,
    repository: &Repository,
) -> Result<BTreeSet<String>, NodeError> {
    let is_there = |entry: &WorktreeEntry| entry.branch.as_ref() == Some(branch) && !entry.is_missing;
    let Some(entry) = repository.worktrees()?.into_iter().find(is_there) else { return Ok(BTreeSet::new()) };
    Ok(touched_paths(&repository.open_worktree(entry.path)?.diff_since(head)?))
}

/// What a run has left, if nothing of a person's is uncommitted in its staging worktree: files may have been put right
/// there, as `blocked_verify` asks.
async fn left_of<N: Node<Graph = ScoutAndWave>>(run: &RunId, cx: &Cx<'_, N>) -> Result<Option<LeftoverRun>, NodeError> {
    let Some(left) = cx.leftover_of(run).await? else { return Ok(None) };
    if let Some((path, head)) = left.worktree(STAGING)?.and_then(|entry| Some((entry.path.clone(), entry.head?))) {
        let at = path.display().to_string();
        let document = cx.entry()?.document()?.clone();
        let files =
            in_repository(cx.repository()?, move |repository| uncommitted_in(repository, path, head, &document));
        let files = files.await?;
        if !files.is_empty() {
            return Err(not_committed(&format!("the staging worktree of `{run}`, {at},"), &files));
        }
    }
    Ok(Some(left))
}

/// The files of a staging worktree that differ from its head, except those that the orchestrator was killed while it wrote:
/// the document, which it alone writes, and a file that has only got lines that the plan adds.
fn uncommitted_in(
    repository: &Repository,
    path: PathBuf,
    head: CommitId,
    document: &FilePath,
) -> Result<BTreeSet<String>, NodeError> {
    let staging = repository.open_worktree(path)?;
    let mut files = touched_paths(&staging.diff_since(head)?);
    files.remove(document.as_str());
    let text = repository.read_file(head, document.in_repository())?.unwrap_or_default();
    let Ok(read) = Impl::read(document.as_str(), &String::from_utf8_lossy(&text)) else { return Ok(files) };
    for AppendOnly { file, additions } in &read.waves.append_only {
        if !files.contains(file.as_str()) {
            continue;
        }
        let before = repository.read_file(head, file.in_repository())?.unwrap_or_default();
        let after = staging.read_file(file.in_repository(), LONGEST).ok().flatten().unwrap_or_default();
        let is_planned = |line: &[u8]| {
            additions.iter().flat_map(|addition| &addition.lines).any(|planned| planned.as_bytes() == line)
        };
        let is_added =
            |added: &[u8]| added.split(|byte| *byte == b'\n').all(|line| line.is_empty() || is_planned(line));
        if after.strip_prefix(&before[..]).is_some_and(is_added) {
            files.remove(file.as_str());
        }
    }
    Ok(files)
}

fn not_committed(place: &str, files: &BTreeSet<String>) -> NodeError {
    let files: Vec<_> = files.iter().map(|file| format!("`{file}`")).collect();
    let files = files.join(", ");
    let problem = format!("{place} has changes that are not committed: commit or remove {files}");
    format!("{problem}, then resume the run with --retry").into()
}

/// Removes what a run has left, if nothing of a person's is uncommitted in its staging worktree. Its commits are kept in the
/// archive.
pub(super) async fn clear_up<N: Node<Graph = ScoutAndWave>>(run: &RunId, cx: &Cx<'_, N>) -> Result<(), NodeError> {
    if let Some(left) = left_of(run, cx).await? {
        left.remove().await?;
    }
    Ok(())
}
