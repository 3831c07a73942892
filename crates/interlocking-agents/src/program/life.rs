//! A child process until all that came of it has ended.

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;

use tokio::process::Child;
use tokio::task::JoinHandle;

use super::tree::Tree;

/// A child process and its tree. Dropped before both have ended, it ends both.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) child: Child,
    tree: Arc<Tree>,
    status: Option<ExitStatus>,
    sweep: Option<JoinHandle<usize>>,
    /// How many others still lived when the child had ended.
    survivors: Option<usize>,
}

impl Life {
    pub(super) fn new(child: Child, tree: Tree) -> Self {
        Self { child, tree: Arc::new(tree), status: None, sweep: None, survivors: None }
    }

    /// Whether the child has ended, and nothing that it left behind lives any more.
    pub(super) fn is_over(&self) -> bool {
        self.survivors.is_some()
    }

    /// Waits for the child alone. Nothing is lost when it is dropped.
    pub(super) async fn exit(&mut self) -> io::Result<ExitStatus> {
        match self.status {
            Some(status) => Ok(status),
            None => Ok(*self.status.insert(self.child.wait().await?)),
        }
    }

    /// Waits for the child, ends what it left behind, and says how it ended and how many those were. Nothing is lost when it
    /// is dropped.
    pub(super) async fn over(&mut self) -> io::Result<(ExitStatus, usize)> {
        let status = self.exit().await?;
        if let Some(survivors) = self.survivors {
            return Ok((status, survivors));
        }
        if self.sweep.is_none() && self.tree.is_over().await {
            self.survivors = Some(0);
            return Ok((status, 0));
        }
        let sweep = self.sweep.get_or_insert_with(|| {
            let sweep = Sweep(Some(Arc::clone(&self.tree)));
            tokio::task::spawn_blocking(move || sweep.run())
        });
        let survivors = sweep.await.map_err(io::Error::other)?;
        self.survivors = Some(survivors);
        Ok((status, survivors))
    }

    /// Asks the program to end, with SIGTERM to its process group. Where there is none, it is left alone.
    pub(super) fn terminate(&self) {
        #[cfg(unix)]
        if self.status.is_none() {
            self.tree.signal(rustix::process::Signal::TERM);
        }
    }

    /// Ends the tree at once and waits for that; the child counts as ended by a signal.
    pub(super) async fn kill(&mut self) -> io::Result<(ExitStatus, usize)> {
        if self.status.is_none() {
            let tree = Sweep(Some(Arc::clone(&self.tree)));
            // The child is waited for here, not there: it is a child of this process.
            let killed = tokio::task::spawn_blocking(move || tree.kill());
            killed.await.map_err(io::Error::other)?;
            self.child.start_kill().or_else(|error| match error.kind() {
                io::ErrorKind::InvalidInput => Ok(()),
                _ => Err(error),
            })?;
        }
        self.over().await
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        // What is under way ends it, too.
        if self.survivors.is_none() && self.sweep.is_none() {
            self.tree.end(false);
        }
    }
}

/// The end of a tree, which takes place even where the runtime drops it instead of running it.
struct Sweep(Option<Arc<Tree>>);

impl Sweep {
    fn run(mut self) -> usize {
        self.0.take().map_or(0, |tree| tree.end(true))
    }

    fn kill(mut self) {
        if let Some(tree) = self.0.take() {
            tree.end(false);
        }
    }
}

impl Drop for Sweep {
    fn drop(&mut self) {
        if let Some(tree) = self.0.take() {
            tree.end(false);
        }
    }
}
