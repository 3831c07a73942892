//! Corrections to a configuration after gix has read it, so that it is the one that git would use.

use gix::{
    bstr::{BStr, BString, ByteSlice as _},
    config::{Source, file::Metadata},
};

use crate::{
    clones::settings::is_outside_repository,
    untrusted::git_directory::is_of_clone,
    values::git_error::{Doing as _, GitError},
};

/// The settings of `core` about line ends, of which gix reads some values otherwise than git.
const LINE_ENDS: [&str; 3] = ["autocrlf", "eol", "safecrlf"];

/// Corrects the configuration of a repository that was just opened. Of a clone's own configuration, nothing is left.
///
/// # Errors
///
/// If a section includes files for git, but not for gix.
pub(crate) fn correct_configuration(git: &mut gix::Repository) -> Result<(), GitError> {
    let doing = format!("reading the configuration of {}", git.git_dir().display());
    let is_clone = is_of_clone(git);
    let is_believed = |found: &Metadata| !is_clone || is_outside_repository(found);
    let configuration = git.config_snapshot();
    let mut own = Vec::new();
    let mut line_ends = [const { None }; LINE_ENDS.len()];
    for (section, id) in configuration.plumbing().sections_and_ids() {
        let (name, subsection) = (section.header().name(), section.header().subsection_name());
        if !is_believed(section.meta()) {
            own.push(id);
        } else if name.eq_ignore_ascii_case(b"core") && subsection.is_none() {
            for (key, value) in LINE_ENDS.iter().zip(&mut line_ends) {
                *value = section.value_implicit(key).or(value.take());
            }
        } else if git.open_options().permissions.config.includes
            && let Some(spelling) = misspelt_include(name, subsection)
        {
            let file = section.meta().path.as_ref().map_or_else(String::new, |path| format!(" in {}", path.display()));
            let cause = format!("git follows the section `[{name}]`{file}, but gix does not: write `[{spelling}]`");
            return Err(GitError::new(doing, cause));
        }
    }
    let line_ends = LINE_ENDS.iter().zip(line_ends);
    let corrected = line_ends.filter_map(|(key, value)| corrected(key, value?.as_ref().map(|value| value.as_bstr())));
    let corrected: Vec<BString> = corrected.collect();
    if own.is_empty() && corrected.is_empty() {
        return Ok(());
    }
    let mut changed = git.config_snapshot_mut();
    for id in own {
        changed.remove_section_by_id(id);
    }
    let appended = changed.append_config(corrected, Source::Api).map(drop);
    appended.and_then(|()| changed.commit().map(drop)).doing(|| doing)
}

/// How gix wants the name of a section that includes files for git.
fn misspelt_include(name: &BStr, subsection: Option<&BStr>) -> Option<&'static str> {
    let expected = if subsection.is_some() { "includeIf" } else { "include" };
    (name.eq_ignore_ascii_case(expected.as_bytes()) && name != expected).then_some(expected)
}

/// The setting with the value that gix reads as git reads this `value`; none if it reads the value itself so. A setting
/// without a value is one that says true.
fn corrected(key: &str, value: Option<&BStr>) -> Option<BString> {
    let read = value.map(|value| value.to_ascii_lowercase());
    let read = match (key, read.as_deref()) {
        ("eol", Some(b"lf")) => "lf",
        ("eol", Some(b"crlf")) => "crlf",
        // Git takes anything else as if there were no setting, and gix fails.
        ("eol", _) => "native",
        (_, None) => "true",
        ("autocrlf", Some(b"input")) => "input",
        ("safecrlf", Some(b"warn")) => "warn",
        _ => return None,
    };
    (value != Some(read.into())).then(|| format!("core.{key}={read}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corrected_from(lines: &str, options: gix::open::Options) -> Result<[Option<String>; 3], String> {
        let place = tempfile::tempdir().unwrap();
        gix::init(place.path()).unwrap();
        std::fs::write(place.path().join(".git/config"), format!("[core]\n\tbare = false\n{lines}")).unwrap();
        std::fs::write(place.path().join(".git/included"), "[core]\n\tautocrlf = true\n").unwrap();
        let mut git = gix::open_opts(place.path(), options).unwrap();
        correct_configuration(&mut git).map_err(|error| error.to_string())?;
        let configuration = git.config_snapshot();
        Ok(LINE_ENDS.map(|key| configuration.string(format!("core.{key}").as_str()).map(|value| value.to_string())))
    }

    #[test]
    fn line_ends_are_what_git_says() {
        for (lines, expected) in [
            ("", [None, None, None]),
            ("[core]\n\tautocrlf\n\teol\n\tsafecrlf\n", [Some("true"), Some("native"), Some("true")]),
            (
                "[CORE]\n\tautoCRLF = INPUT\n\tEOL = CrLf\n\tsafeCRLF = Warn\n",
                [Some("input"), Some("crlf"), Some("warn")],
            ),
            ("[core]\n\tautocrlf = input\n\teol = lf\n\tsafecrlf = warn\n", [Some("input"), Some("lf"), Some("warn")]),
            ("[core]\n\tautocrlf = off\n\teol = cr\n\tsafecrlf = 1\n", [Some("off"), Some("native"), Some("1")]),
            // The last one counts.
            ("[core]\n\tautocrlf = false\n[core]\n\tautocrlf\n", [Some("true"), None, None]),
            ("[core]\n\tautocrlf\n\tautocrlf = false\n[core]\n\teol = LF\n", [Some("false"), Some("lf"), None]),
            ("[core \"other\"]\n\tautocrlf\n", [None, None, None]),
        ] {
            let expected = expected.map(|value| value.map(str::to_owned));
            assert_eq!(corrected_from(lines, gix::open::Options::isolated()), Ok(expected), "{lines}");
        }
    }

    /// A file that git includes and gix does not would be missing without a word.
    #[test]
    fn an_include_that_gix_does_not_follow_is_refused() {
        let follow = || {
            gix::open::Options::isolated().permissions(gix::open::Permissions {
                config: gix::open::permissions::Config { includes: true, ..gix::open::permissions::Config::isolated() },
                ..gix::open::Permissions::isolated()
            })
        };
        for (section, spelling) in [
            ("INCLUDE", "`[INCLUDE]`"),
            ("includeif \"gitdir:**\"", "`[includeif]`"),
            ("IncludeIf \"gitdir:**\"", "`[IncludeIf]`"),
        ] {
            let lines = format!("[{section}]\n\tpath = included\n");
            let error = corrected_from(&lines, follow()).unwrap_err();
            assert!(error.contains(spelling) && error.contains("write `[include"), "{error}");
            assert!(corrected_from(&lines, gix::open::Options::isolated()).is_ok(), "nothing is included");
        }
        for section in ["include", "includeIf \"gitdir:**\""] {
            let lines = format!("[{section}]\n\tpath = included\n");
            assert_eq!(corrected_from(&lines, follow()).unwrap()[0].as_deref(), Some("true"));
        }
    }
}
