//! A project with protocols of its own.

use interlocking_envoy::{Library, Protocol, ProtocolName, ResolveError, StepKey};
use std::path::Path;
use tempfile::TempDir;

pub(crate) struct Project {
    directory: TempDir,
}

impl Project {
    /// A project with these files in `.claude/protocols`.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let project = Self { directory: tempfile::tempdir().unwrap() };
        for (name, content) in files {
            write(&project.root().join(".claude/protocols").join(name), content);
        }
        project
    }

    pub(crate) fn root(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn library(&self) -> Library {
        Library::of_project(self.root())
    }

    pub(crate) fn resolve(&self, name: &str) -> Result<Protocol, ResolveError> {
        self.library().resolve(&named(name))
    }

    /// The error for a protocol, with locations without their directory.
    pub(crate) fn refusal(&self, name: &str) -> String {
        let error = self.resolve(name).unwrap_err();
        let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
        let told: Vec<String> = causes.map(ToString::to_string).collect();
        told.join("\n  caused by: ").replace(&format!("{}/", self.root().display()), "")
    }
}

pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

pub(crate) fn named(name: &str) -> ProtocolName {
    name.parse().unwrap()
}

pub(crate) fn key(key: &str) -> StepKey {
    key.parse().unwrap()
}

/// A protocol that comes with the crate.
pub(crate) fn shipped(name: &str) -> Protocol {
    Library::embedded().resolve(&named(name)).unwrap()
}

/// The steps as `key: text`, a line each.
pub(crate) fn steps(protocol: &Protocol) -> Vec<String> {
    protocol.steps.iter().map(|step| format!("{}: {}", step.key, step.text.replace('\n', "/"))).collect()
}
