//! When worktrees are kept after their run's end.

/// When worktrees are kept after their run's end, for people to look at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    /// Never.
    #[default]
    Never,
    /// If the run failed.
    OnFailure,
    /// Always.
    Always,
}
