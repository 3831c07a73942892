//! A child process together with the tree of its descendants, until all of them have ended.

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;

use tokio::process::Child;
use tokio::task::JoinHandle;

use super::tree::Tree;

/// A child process and its tree. Dropping this before both have ended ends both.
#[derive(Debug)]
pub(super) struct ChildTree {
    pub(super) child: Child,
    tree: Arc<Tree>,
    status: Option<ExitStatus>,
    /// The task that ends the descendants that outlived the child.
    end_task: Option<JoinHandle<usize>>,
    /// How many descendants were still alive when the child had ended.
    survivors: Option<usize>,
}

impl ChildTree {
    pub(super) fn new(child: Child, tree: Tree) -> Self {
        Self { child, tree: Arc::new(tree), status: None, end_task: None, survivors: None }
    }

    /// Whether the child and all its descendants have ended.
    pub(super) fn has_ended(&self) -> bool {
        self.survivors.is_some()
    }

    /// Waits for the child alone. Cancel-safe.
    pub(super) async fn wait_child(&mut self) -> io::Result<ExitStatus> {
        match self.status {
            Some(status) => Ok(status),
            None => Ok(*self.status.insert(self.child.wait().await?)),
        }
    }

    /// Waits for the child, then ends its remaining descendants. Returns the child's exit status and how many descendants were
    /// ended. Cancel-safe.
    pub(super) async fn wait_all(&mut self) -> io::Result<(ExitStatus, usize)> {
        let status = self.wait_child().await?;
        if let Some(survivors) = self.survivors {
            return Ok((status, survivors));
        }
        if self.end_task.is_none() && self.tree.has_ended().await {
            self.survivors = Some(0);
            return Ok((status, 0));
        }
        let end_task = self.end_task.get_or_insert_with(|| {
            let tree = EndOnDrop(Some(Arc::clone(&self.tree)));
            tokio::task::spawn_blocking(move || tree.end())
        });
        let survivors = end_task.await.map_err(io::Error::other)?;
        self.survivors = Some(survivors);
        Ok((status, survivors))
    }

    /// Sends SIGTERM to the program's process group, if the child has not ended. Does nothing on systems without process groups.
    pub(super) fn terminate(&self) {
        #[cfg(unix)]
        if self.status.is_none() {
            self.tree.signal(rustix::process::Signal::TERM);
        }
    }

    /// Kills the tree at once and waits until it has ended. If the child was still alive, its exit status names the signal.
    pub(super) async fn kill(&mut self) -> io::Result<(ExitStatus, usize)> {
        if self.status.is_none() {
            let tree = EndOnDrop(Some(Arc::clone(&self.tree)));
            // The blocking task does not wait for the child: `wait_all` below reaps it.
            let killed = tokio::task::spawn_blocking(move || tree.kill());
            killed.await.map_err(io::Error::other)?;
            self.child.start_kill().or_else(|error| match error.kind() {
                io::ErrorKind::InvalidInput => Ok(()),
                _ => Err(error),
            })?;
        }
        self.wait_all().await
    }
}

impl Drop for ChildTree {
    fn drop(&mut self) {
        // A pending `end_task` ends the tree, even after this is dropped.
        if self.survivors.is_none() && self.end_task.is_none() {
            self.tree.end(false);
        }
    }
}

/// A tree that is ended by a blocking task. If the runtime drops the task instead of running it, dropping this ends the tree.
struct EndOnDrop(Option<Arc<Tree>>);

impl EndOnDrop {
    fn end(mut self) -> usize {
        self.0.take().map_or(0, |tree| tree.end(true))
    }

    fn kill(mut self) {
        if let Some(tree) = self.0.take() {
            tree.end(false);
        }
    }
}

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        if let Some(tree) = self.0.take() {
            tree.end(false);
        }
    }
}
