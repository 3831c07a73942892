//! How large a thing may be that an agent can write.

use gix::bstr::BString;

/// The most that is read of what an agent can write, in bytes. What is larger is refused with an error that names the limit.
///
/// Reading takes up to a few times as much memory. The defaults leave room for large projects; see
/// [`Repository::open_with_limits`](crate::Repository::open_with_limits).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Of one object of git's: a version of a file, a directory or a commit; and of a file that is to become one.
    pub object: u64,
    /// Of an index, and of the index that a commit's files would need: about a hundred bytes a file.
    pub index: u64,
    /// Of `packed-refs`: about seventy bytes a reference.
    pub references: u64,
    /// Of one file of git's configuration.
    pub configuration: u64,
    /// Of one file that says what is ignored, or what attributes files have.
    pub rules: u64,
}

impl Default for Limits {
    /// 512 MiB for an object, 256 MiB for an index, 32 MiB of references, 2 MiB for a configuration file, 1 MiB of rules.
    fn default() -> Self {
        Self { object: 512 << 20, index: 256 << 20, references: 32 << 20, configuration: 2 << 20, rules: 1 << 20 }
    }
}

impl Limits {
    /// As configuration over every file of it: so they go with a repository wherever that goes.
    pub(crate) fn overrides(self) -> impl Iterator<Item = BString> {
        // gix holds itself to the first.
        let named = std::iter::once(("gitoxide.objects.allocLimit", self.object)).chain(self.named());
        named.map(|(name, limit)| BString::from(format!("{name}={limit}")))
    }

    pub(crate) fn of(git: &gix::Repository) -> Self {
        let configuration = git.config_snapshot();
        let read = |name: &str, default| {
            configuration.integer(name).and_then(|limit| u64::try_from(limit).ok()).unwrap_or(default)
        };
        let default = Self::default();
        let [object, index, references, configuration, rules] = default.named().map(|(name, limit)| read(name, limit));
        Self { object, index, references, configuration, rules }
    }

    fn named(self) -> [(&'static str, u64); 5] {
        [
            ("interlocking.limits.object", self.object),
            ("interlocking.limits.index", self.index),
            ("interlocking.limits.references", self.references),
            ("interlocking.limits.configuration", self.configuration),
            ("interlocking.limits.rules", self.rules),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_go_with_a_repository_and_its_own_configuration_does_not_change_them() {
        let place = tempfile::tempdir().unwrap();
        gix::init(place.path()).unwrap();
        let config = place.path().join(".git/config");
        let text = std::fs::read_to_string(&config).unwrap();
        std::fs::write(
            &config,
            text + "[interlocking \"limits\"]\n\tindex = 1\n[gitoxide \"objects\"]\n\tallocLimit = 1\n",
        )
        .unwrap();
        let limits = Limits { object: 7_000_000_000, index: 5, references: 2, configuration: 1, rules: 0 };
        let options = gix::open::Options::isolated().config_overrides(limits.overrides());
        let git = gix::open_opts(place.path(), options).unwrap();
        assert_eq!(Limits::of(&git), limits);
        assert_eq!(git.config_snapshot().integer("gitoxide.objects.allocLimit"), Some(7_000_000_000));
    }
}
