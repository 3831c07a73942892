//! The worktrees of a wave, of which none is used before all are there.

use scout_and_wave::handlers::{MissingWorktree, WaveWorktrees};
use std::sync::Arc;

/// SAW-40: nobody begins before all have a worktree.
#[tokio::test]
async fn nobody_begins_before_all_worktrees_are_there() {
    let worktrees = Arc::new(WaveWorktrees::default());
    let first = tokio::spawn({
        let worktrees = worktrees.clone();
        async move { worktrees.wait_for_all("a", 3).await }
    });
    assert_eq!(tokio::join!(worktrees.wait_for_all("b", 2)).0, Ok(()), "a has one");
    tokio::task::yield_now().await;
    assert!(!first.is_finished());
    // An agent that has ended in an earlier process.
    worktrees.note_made("c");
    assert_eq!(first.await.unwrap(), Ok(()));
}

#[tokio::test]
async fn nobody_begins_if_one_never_comes() {
    let worktrees = WaveWorktrees::default();
    let (waiting, ()) = tokio::join!(worktrees.wait_for_all("a", 2), async { worktrees.note_failure("b") });
    assert_eq!(waiting, Err(MissingWorktree { agent: "b".to_owned() }));
    // An agent that fails at its work had a worktree.
    let worktrees = WaveWorktrees::default();
    worktrees.note_made("b");
    worktrees.note_failure("b");
    assert_eq!(worktrees.wait_for_all("a", 2).await, Ok(()));
}
