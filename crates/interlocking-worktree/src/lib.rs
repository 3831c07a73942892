//! interlocking-worktree
