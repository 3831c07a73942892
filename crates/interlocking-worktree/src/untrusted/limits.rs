//! Limits on the size of data that an agent can write.

use gix::bstr::{BString, ByteSlice as _};

/// The setting, which only this crate sets, with all limits in the order of the fields: a single one, because each
/// look-up in a configuration takes time.
const SETTING: &str = "interlocking.limits";

/// Limits, in bytes, on reading data that an agent can write. Larger data is refused with an error that names the
/// limit.
///
/// Reading takes up to a few times as much memory. The defaults leave room for large projects; see
/// [`Repository::open_with_limits`](crate::Repository::open_with_limits).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Of one git object (a blob, tree or commit), and of a file that is to become one.
    pub object: u64,
    /// Of an index, and of the index that a commit's files would need: about a hundred bytes per file.
    pub index: u64,
    /// Of `packed-refs`: about seventy bytes per reference.
    pub references: u64,
    /// Of one file of git's configuration.
    pub configuration: u64,
    /// Of one file of ignore rules or attributes.
    pub rules: u64,
}

impl Default for Limits {
    /// 512 MiB for an object, 256 MiB for an index, 32 MiB of references, 2 MiB for a configuration file, 1 MiB of rules.
    fn default() -> Self {
        Self { object: 512 << 20, index: 256 << 20, references: 32 << 20, configuration: 2 << 20, rules: 1 << 20 }
    }
}

impl Limits {
    /// The limits as configuration overrides, so that they go with the repository's handle.
    pub(crate) fn overrides(self) -> impl Iterator<Item = BString> {
        let Self { object, index, references, configuration, rules } = self;
        [
            // gix enforces this one.
            BString::from(format!("gitoxide.objects.allocLimit={object}")),
            BString::from(format!("{SETTING}={object} {index} {references} {configuration} {rules}")),
        ]
        .into_iter()
    }

    pub(crate) fn of(git: &gix::Repository) -> Self {
        let set = git.config_snapshot().string(SETTING).unwrap_or_default();
        let mut limits = set.split_str(" ").filter_map(|limit| limit.to_str().ok()?.parse().ok());
        let mut next = |default| limits.next().unwrap_or(default);
        let Self { object, index, references, configuration, rules } = Self::default();
        Self {
            object: next(object),
            index: next(index),
            references: next(references),
            configuration: next(configuration),
            rules: next(rules),
        }
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
            text + "[interlocking]\n\tlimits = 1 1 1 1 1\n[gitoxide \"objects\"]\n\tallocLimit = 1\n",
        )
        .unwrap();
        let limits = Limits { object: 7_000_000_000, index: 5, references: 2, configuration: 1, rules: 0 };
        let options = gix::open::Options::isolated().config_overrides(limits.overrides());
        let git = gix::open_opts(place.path(), options).unwrap();
        assert_eq!(Limits::of(&git), limits);
        assert_eq!(git.config_snapshot().integer("gitoxide.objects.allocLimit"), Some(7_000_000_000));
    }
}
