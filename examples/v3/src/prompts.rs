//! The prompts: templates over borrowed data. The sentences are ours.

use crate::memory::{ImplMem, TddMem};
use crate::types::implementation::ImplInput;
use crate::types::merge::{MergerInput, RejectionReason};
use crate::types::rebase::RebaserInput;
use crate::types::scaffold::{Clarification, ScaffoldInput};
use crate::types::shared::{ChangeType, ImpactLevel, MergeEvent};
use crate::types::tdd::{JudgeInput, JudgeRefusal, ReviewInput, WriteTestsInput};
use askama::Template;
use interlocking::workspaces::FilePath;
use interlocking::worktree::CommitId;

/// Asks Scaffold for a scaffold.
#[derive(Debug, Template)]
#[template(path = "scaffold.md", escape = "none")]
pub struct ScaffoldPrompt<'a> {
    /// The node's input.
    pub input: &'a ScaffoldInput,
    /// Why it is asked again, if it is: everything that it has not heard yet.
    pub clarifications: Vec<Clarification>,
    /// Whether the work may be split further.
    pub may_split: bool,
}

/// Asks TDD for tests.
#[derive(Debug, Template)]
#[template(path = "write_tests.md", escape = "none")]
pub struct WriteTestsPrompt<'a> {
    /// The node's input.
    pub input: &'a WriteTestsInput,
    /// The node's memory.
    pub memory: TddMem,
}

/// Asks Impl to make tests pass.
#[derive(Debug, Template)]
#[template(path = "implement.md", escape = "none")]
pub struct ImplPrompt<'a> {
    /// The node's input.
    pub input: &'a ImplInput,
    /// The node's memory.
    pub memory: ImplMem,
    /// Which attempt it is, from 1.
    pub attempt: u32,
    /// Whether it is the last one.
    pub is_final: bool,
}

/// Asks TDD for a review.
#[derive(Debug, Template)]
#[template(path = "review.md", escape = "none")]
pub struct ReviewPrompt<'a> {
    /// The node's input.
    pub input: &'a ReviewInput,
    /// The head of the branch.
    pub commit: CommitId,
    /// Its changes since the scaffold (V3-83).
    pub diff: String,
    /// Why the parent's judge has refused the work, if it has.
    pub judgement: Option<JudgeRefusal>,
}

/// Asks Merger for the impact of a merge on other nodes.
#[derive(Debug, Template)]
#[template(path = "merger.md", escape = "none")]
pub struct MergerPrompt<'a> {
    /// The node's input.
    pub input: &'a MergerInput,
    /// Why the commit could not be made, if it could not.
    pub conflict: Option<String>,
}

/// Asks the judge for the parent's verdict.
#[derive(Debug, Template)]
#[template(path = "judge.md", escape = "none")]
pub struct JudgePrompt<'a> {
    /// The node's input.
    pub input: &'a JudgeInput,
}

/// Asks Rebaser to adapt a branch.
#[derive(Debug, Template)]
#[template(path = "rebaser.md", escape = "none")]
pub struct RebaserPrompt<'a> {
    /// The rebase.
    pub input: &'a RebaserInput,
    /// Earlier merges onto which this branch was not rebased either.
    pub before: &'a [MergeEvent],
    /// The greatest impact of all these merges.
    pub impact: ImpactLevel,
    /// The files in which both sides have changed the same lines: they have the sibling's lines.
    pub gave_way: Vec<String>,
    /// The tests that passed before, and fail now.
    pub failing_tests: Vec<String>,
    /// The file of this node's interface, whose signatures only the planner changes.
    pub interface_file: &'a FilePath,
}
