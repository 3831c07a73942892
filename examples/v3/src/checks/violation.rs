//! What is wrong with an agent's answer.

use crate::types::node_id::NodeId;
use interlocking::workspaces::FilePath;
use interlocking::worktree::{CommitId, PathError};

/// What is wrong with an agent's answer, in words for that agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// The commit that it names is not the head of its branch.
    #[error("you name the commit {claimed}, and your branch was at {found}: commit, and name that commit")]
    NotYourCommit {
        /// The named commit.
        claimed: CommitId,
        /// The branch's head.
        found: CommitId,
    },
    /// Nothing was committed.
    #[error("there is no commit of yours: commit what you have done")]
    NothingCommitted,
    /// Something was not committed.
    #[error("these files are changed and not committed: {}; commit or remove them", paths.join(", "))]
    Uncommitted {
        /// The files.
        paths: Vec<String>,
    },
    /// Something was not committed, and the runtime has committed it.
    #[error(
        "you had not committed these files: {}; they are committed now, as they were: take out what does not belong there",
        paths.join(", ")
    )]
    CommittedForYou {
        /// The files.
        paths: Vec<String>,
    },
    /// A merge, cherry-pick or revert was left unfinished, and was aborted with everything uncommitted.
    #[error(
        "you had left a merge, cherry-pick or revert unfinished: it was aborted, and what was not committed is gone"
    )]
    Aborted,
    /// There are git repositories in the workspace, whose files cannot be committed.
    #[error("git repositories inside the worktree: {}; delete their `.git`, or ignore them", paths.join(", "))]
    NestedRepositories {
        /// Their directories.
        paths: Vec<String>,
    },
    /// The attempt's commits were reset, because of other violations.
    #[error("everything of this attempt was taken back: do it again, without that")]
    TakenBack,
    /// A file is not in the commit.
    #[error("{path} is not in your commit: add it")]
    NoSuchFile {
        /// The file.
        path: FilePath,
    },
    /// It does not build.
    #[error("it does not build:\n{diagnostics}")]
    DoesNotBuild {
        /// The compiler's words.
        diagnostics: String,
    },
    /// A criterion has no test.
    #[error("the criterion `{criterion}` has no test in the plan: plan one")]
    NoTest {
        /// The criterion.
        criterion: String,
    },
    /// A name is not a criterion of the specification.
    #[error(
        "{place} names the criterion `{criterion}`, and there is none: the criteria are those of the specification"
    )]
    NoSuchCriterion {
        /// Where.
        place: String,
        /// The name.
        criterion: String,
    },
    /// A child has other words for a criterion.
    #[error(
        "the child `{child}` has another text for the criterion `{criterion}`: give it the one of the specification, word for word"
    )]
    OtherCriterion {
        /// The child.
        child: NodeId,
        /// The criterion.
        criterion: String,
    },
    /// A criterion has two children.
    #[error("the criterion `{criterion}` is given to `{one}` and to `{other}`: give it to one of them")]
    SharedCriterion {
        /// The criterion.
        criterion: String,
        /// The one.
        one: NodeId,
        /// The other.
        other: NodeId,
    },
    /// A child's specification cannot be worked on.
    #[error("{reason}")]
    UnusableChild {
        /// Why.
        reason: String,
    },
    /// Two children have one id, or an id is not a child's.
    #[error("the child `{id}` has no id of its own below `{parent}`: call it `{parent}/NAME`, and each another")]
    ChildId {
        /// The id.
        id: NodeId,
        /// The parent's.
        parent: NodeId,
    },
    /// There are children, and no interfaces.
    #[error("there are children, and no `interfaces`: name the files in which theirs are defined")]
    NoInterfaces,
    /// A node's file is not its own, or has another purpose.
    #[error("`{node}` has {path} for its {purpose}, which is {whose}: give it another file")]
    FileOfAnother {
        /// The node.
        node: NodeId,
        /// The file.
        path: FilePath,
        /// What the node has it for.
        purpose: &'static str,
        /// What it is.
        whose: &'static str,
    },
    /// The tree would be too deep.
    #[error("the tree is as deep as it may be, {limit} below the root: do without children")]
    TooDeep {
        /// The limit.
        limit: u32,
    },
    /// A sentence is not in the specification.
    #[error("`specSentence` is not in the specification, word for word: {sentence:?}")]
    NotInSpec {
        /// The sentence.
        sentence: String,
    },
    /// Other files than tests were touched.
    #[error("your commit changes files that are no tests of yours: {}; change {allowed} alone", paths.join(", "))]
    NotATestFile {
        /// The files.
        paths: Vec<String>,
        /// What may be changed.
        allowed: FilePath,
    },
    /// No file of tests is named.
    #[error("`testFiles` names no file: name {path}")]
    NamesNoFile {
        /// The file of the tests.
        path: FilePath,
    },
    /// There are several commits of tests.
    #[error("you have made {count} commits: make all tests one commit")]
    SeveralCommits {
        /// How many.
        count: usize,
    },
    /// A commit has several parents: it can be neither rebased nor picked.
    #[error("your commit {commit} is a merge: make commits with one parent each")]
    MergeCommit {
        /// The commit.
        commit: CommitId,
    },
    /// Tests do not fail.
    #[error("these tests pass before anything is implemented: {}; each has to fail on the skeleton", tests.join(", "))]
    Green {
        /// The tests.
        tests: Vec<String>,
    },
    /// A planned test is not there.
    #[error("the planned test `{test}` is not in {path}: write it, under that name")]
    NoSuchTest {
        /// The test.
        test: String,
        /// The file.
        path: FilePath,
    },
    /// Tests cannot be run.
    #[error("the tests cannot be run:\n{reason}")]
    NoVerdict {
        /// Why.
        reason: String,
    },
    /// Tests fail.
    #[error("these tests fail: {}\n{details}", tests.join(", "))]
    Red {
        /// The tests.
        tests: Vec<String>,
        /// What they say.
        details: String,
    },
    /// A test file was touched.
    #[error("your commits change tests: {}; put them back", paths.join(", "))]
    TouchesTests {
        /// The files.
        paths: Vec<String>,
    },
    /// An interface file of a node above was touched.
    #[error("your commits change interface files of the nodes above: {}; put them back", paths.join(", "))]
    TouchesInterfaces {
        /// The files.
        paths: Vec<String>,
    },
    /// A file's path cannot be used.
    #[error("{0}: give the file another name")]
    UnusablePath(PathError),
    /// The test that an approval names for a criterion has not passed.
    #[error(
        "the approval names the test `{test}` for the criterion `{criterion}`, and no test of that name passes in {path}"
    )]
    NamesNoPassedTest {
        /// The criterion.
        criterion: String,
        /// The named test.
        test: String,
        /// The file of the tests.
        path: FilePath,
    },
    /// A finding in the source, with its place.
    #[error("{0}")]
    Source(String),
}
