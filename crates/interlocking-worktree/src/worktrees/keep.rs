//! When worktrees stay after the end of what they were made for.

/// When worktrees stay after their run's end, for somebody to look at.
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
