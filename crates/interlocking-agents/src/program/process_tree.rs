//! Starts a program without an [`Invocation`](super::Invocation), from synchronous code.

use std::io;
use std::process::{Child, Command};
use std::time::Instant;

use interlocking_sandbox::Confinement;

use super::starter::on_starter_blocking;
use super::tree::{Marker, Marks, Namespace, Subreaper, Tree, guard};

/// The processes of a program that the caller reads and waits for by itself: the program and all its descendants. Dropping this
/// kills those that are left, and waits until they are gone, but at most two seconds. Drop it after the program was waited for.
///
/// If this process is killed, they end as those of an [`Invocation`](super::Invocation) do.
#[derive(Debug)]
pub struct ProcessTree(Tree);

impl ProcessTree {
    /// Starts a program, confined if there is a confinement. Adds a variable to its environment, by which its processes are
    /// recognised. Blocks while other programs are being started.
    ///
    /// # Errors
    ///
    /// The program cannot be started, or not be confined.
    pub fn start(mut command: Command, confinement: Option<Confinement>) -> io::Result<(Child, Self)> {
        guard::ensure();
        let marker = Marker::new();
        command.env(Marker::VARIABLE, marker.value());
        let subreaper = Subreaper::begin();
        on_starter_blocking(move || {
            // Before the thread that starts the program is confined, as in `Invocation::start`.
            let namespace = Namespace::enter();
            let before = Instant::now();
            let child = match &confinement {
                None => command.spawn(),
                Some(confinement) => confinement.enter(|| command.spawn()).map_err(io::Error::other)?,
            }?;
            let tree = Tree::of(Some(child.id()), before, Marks { marker, namespace }, subreaper);
            Ok((child, Self(tree)))
        })?
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.0.end(true);
    }
}
