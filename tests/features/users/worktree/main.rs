//! Worktrees without any run.

use interlocking::worktree::Repository;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    for worktree in Repository::discover(".")?.worktrees()? {
        println!("{worktree:?}");
    }
    Ok(())
}
