//! The part of the user's configuration that a clone gets, and the rules for reading a clone.

use gix::{
    bstr::{BString, ByteSlice as _},
    config::{File, Source, file::Metadata, source::Kind},
};

use crate::repository::registration_lock::private_directory;
use crate::values::git_error::{Doing as _, GitError};

/// The settings of `core` about how files are written and compared. All others name paths or programs.
const CORE: [&str; 9] = [
    "autocrlf",
    "eol",
    "safecrlf",
    "filemode",
    "symlinks",
    "ignorecase",
    "precomposeunicode",
    "protectHFS",
    "protectNTFS",
];

/// The sections of programs that affect the contents of files.
const DRIVERS: [&str; 2] = ["filter", "merge"];

/// The part of a repository's own configuration without which unchanged files would look changed in a clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CloneSettings {
    /// Section, subsection, key, value.
    values: Vec<(String, Option<BString>, String, BString)>,
}

impl CloneSettings {
    /// The settings for clones of `git`.
    ///
    /// # Errors
    ///
    /// If the name of a driver has a `=`, at which gix would split [an override](Self::overrides).
    pub(crate) fn of(git: &gix::Repository) -> Result<Self, GitError> {
        let mut values = Vec::new();
        let snapshot = git.config_snapshot();
        for section in snapshot.plumbing().sections() {
            if !matches!(section.meta().source, Source::Local | Source::Worktree) {
                continue;
            }
            let name = section.header().name().to_str_lossy().to_ascii_lowercase();
            let subsection = section.header().subsection_name().map(ToOwned::to_owned);
            let is_core = name == "core" && subsection.is_none();
            let is_driver = DRIVERS.contains(&name.as_str()) && subsection.is_some();
            if !is_core && !is_driver {
                continue;
            }
            if let Some(driver) = subsection.as_ref().filter(|driver| driver.contains(&b'=')) {
                let doing = format!("reading the configuration of {}", git.git_dir().display());
                let cause = format!("a clone cannot have the section `[{name} \"{driver}\"]`: name it without a `=`");
                return Err(GitError::new(doing, cause));
            }
            for key in section.value_names() {
                if is_core && !CORE.iter().any(|allowed| allowed.eq_ignore_ascii_case(&key)) {
                    continue;
                }
                // A key without a value means true.
                let value = section.value(&key).unwrap_or_else(|| "true".into());
                values.push((name.clone(), subsection.clone(), key, value));
            }
        }
        Ok(Self { values })
    }

    /// The contents of the clone's own `config` file, for git programs in the clone.
    pub(crate) fn to_file(&self) -> Result<Vec<u8>, GitError> {
        let doing = || "writing the configuration of a clone".to_owned();
        let mut file = File::new(Metadata::from(Source::Local));
        for (key, value) in [("repositoryformatversion", "0"), ("bare", "false"), ("logallrefupdates", "true")] {
            file.set_raw_value_by("core", None, key, value).doing(doing)?;
        }
        for (section, subsection, key, value) in &self.values {
            let subsection = subsection.as_ref().map(|name| name.as_bstr());
            file.set_raw_value_by(section, subsection, key, value.as_bstr()).doing(doing)?;
        }
        Ok(file.to_bstring().into())
    }

    /// The overrides for opening the clone in this crate, where nothing of the clone's own `config` counts: the agent may
    /// have rewritten it. A clone is whole, whatever the user says of checkouts.
    pub(crate) fn overrides(&self) -> impl Iterator<Item = BString> + '_ {
        let fixed = ["core.bare=false", "core.sparseCheckout=false"].map(BString::from);
        fixed.into_iter().chain(self.values.iter().map(|(section, subsection, key, value)| {
            let mut line = BString::from(section.as_str());
            if let Some(subsection) = subsection {
                line.push(b'.');
                line.extend_from_slice(subsection);
            }
            line.push(b'.');
            line.extend_from_slice(key.as_bytes());
            line.push(b'=');
            line.extend_from_slice(value);
            line
        }))
    }
}

/// Excludes the clone's own configuration, so that it cannot name a program or a path.
pub(crate) fn is_outside_repository(section: &Metadata) -> bool {
    section.source.kind() != Kind::Repository
}

/// The file that marks a clone made by this crate.
pub(crate) const MARK: &str = "clone";

/// Whether the directory is a clone that was made by this crate.
pub(crate) fn is_clone(root: &std::path::Path) -> bool {
    private_directory(&root.join(".git")).join(MARK).is_file()
}
