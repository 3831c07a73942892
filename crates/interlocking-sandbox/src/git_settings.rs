//! The files of a user's git configuration.

use crate::included_files::{text_of, with_included};
use crate::secrets::{Format, Settings};
use std::path::{Path, PathBuf};

/// The files that git reads for all repositories.
#[derive(Debug, Default)]
pub(crate) struct GitFiles {
    /// The configuration, with the files that it includes. What is included only under a condition is left out if it may
    /// contain a secret: git stops where the condition holds, and works everywhere else.
    pub(crate) settings: Vec<PathBuf>,
    /// Ignore rules and attributes.
    pub(crate) rules: Vec<PathBuf>,
}

impl GitFiles {
    /// The files of the user with this home directory, whether or not they exist, and those that they or the system's
    /// configuration name, as far as these are regular files.
    pub(crate) fn of(home: &Path) -> Self {
        let usual: Vec<_> = [".gitconfig", ".config/git/config"].map(|file| home.join(file)).into();
        let mut rules: Vec<_> = [".config/git/ignore", ".config/git/attributes"].map(|file| home.join(file)).into();
        let system = PathBuf::from("/etc/gitconfig");
        let all = usual.iter().cloned().chain([system.clone()]).collect();
        // A relative path starts in `directory`.
        let named = |directory: &Path, text: &str, names: &[&str]| -> Vec<PathBuf> {
            let values = settings(text).into_iter().filter(|(name, _)| names.contains(&&name[..]));
            values.filter_map(|(_, value)| resolved(&value, directory, home)).filter(|path| path.is_file()).collect()
        };
        let included_by = |files, names: &[&str]| {
            with_included(files, |file, text| file.parent().map_or(Vec::new(), |at| named(at, text, names)))
        };
        let always = included_by(all, &["include.path"]);
        let mut found = included_by(always.clone(), &["include.path", "includeif.path"]);
        let is_clean = |file: &PathBuf| Settings::new(file, Format::Git).secrets().is_ok_and(|names| names.is_empty());
        found.retain(|file| always.contains(file) || is_clean(file));
        for text in found.iter().filter_map(|file| text_of(file)) {
            // Git looks for these in the repository if their paths are relative.
            let paths = named(Path::new(""), &text, &["core.excludesfile", "core.attributesfile"]);
            rules.extend(paths.into_iter().filter(|path| path.is_absolute()));
        }
        // All users may read it.
        found.retain(|file| *file != system);
        Self { settings: found, rules }
    }
}

/// The path that a value names. Git's `%(prefix)` and other users' homes are not resolved.
fn resolved(value: &str, directory: &Path, home: &Path) -> Option<PathBuf> {
    match value.strip_prefix("~/") {
        Some(rest) => Some(home.join(rest)),
        None if value.is_empty() || value.starts_with(['~', '%']) => None,
        None => Some(directory.join(value)),
    }
}

/// The settings of a configuration file in their order: `section.key` in lower case, without a subsection, and the
/// value.
fn settings(text: &str) -> Vec<(String, String)> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let (mut rest, mut section, mut found) = (&text[..], String::new(), Vec::new());
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return found;
        } else if rest.starts_with(['#', ';']) {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        } else if let Some(header) = rest.strip_prefix('[') {
            let end = header.find([' ', '\t', '"', ']', '\n']).unwrap_or(header.len());
            section = header[..end].to_ascii_lowercase();
            rest = after_header(&header[end..]);
        } else {
            let end = rest.find(['=', '\n']).unwrap_or(rest.len());
            let (key, after) = rest.split_at(end);
            let (value, after) = after.strip_prefix('=').map_or((String::new(), after), value);
            found.push((format!("{section}.{}", key.trim().to_ascii_lowercase()), value));
            rest = after;
        }
    }
}

/// What follows a section's name, after its subsection in quotation marks and the bracket.
fn after_header(text: &str) -> &str {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let end = text.find(|character| match character {
        _ if is_escaped => {
            is_escaped = false;
            false
        }
        '\\' if is_quoted => {
            is_escaped = true;
            false
        }
        '"' => {
            is_quoted = !is_quoted;
            false
        }
        character => character == '\n' || (character == ']' && !is_quoted),
    });
    end.map_or("", |end| &text[end + 1..])
}

/// A value, which may be quoted in parts and continue on the next line, and what follows it.
fn value(text: &str) -> (String, &str) {
    let (mut value, mut kept, mut is_quoted) = (String::new(), 0, false);
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\n' => {
                value.truncate(kept);
                return (value, &text[at..]);
            }
            '#' | ';' if !is_quoted => {
                value.truncate(kept);
                return (value, text[at..].find('\n').map_or("", |end| &text[at + end..]));
            }
            '"' => is_quoted = !is_quoted,
            '\\' => match characters.next() {
                Some((_, '\n')) | None => {}
                Some((_, escaped)) => {
                    value.push(match escaped {
                        'n' => '\n',
                        't' => '\t',
                        'b' => '\u{8}',
                        other => other,
                    });
                    kept = value.len();
                }
            },
            blank if blank.is_whitespace() && !is_quoted => {
                if !value.is_empty() {
                    value.push(blank);
                }
            }
            other => {
                value.push(other);
                kept = value.len();
            }
        }
    }
    value.truncate(kept);
    (value, "")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    /// Git itself lists the same settings.
    #[test]
    fn settings_are_read_as_git_reads_them() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("config");
        let text = "\u{feff}# [comment]\n[core]\n\teditor=vi\n excludesFile = \"~/a b\" ; comment\r\n[Include]path=q\n\
                    [includeIf \"on\\\"branch:x]y\"]\n path = \"r\\\n s\"t  u \\\\ # c\n\tPATH = a\\tb\n[a.b] c = # none\n flag\n\
                    [core \"sub\"]\nx=\"a;b\"#c\n[core]\tlast = 1";
        fs::write(&file, text).unwrap();
        let git =
            std::process::Command::new("git").args(["config", "list", "-z", "--file"]).arg(&file).output().unwrap();
        assert!(git.status.success(), "{}", String::from_utf8_lossy(&git.stderr));
        let listed = String::from_utf8(git.stdout).unwrap();
        let expected = listed.split_terminator('\0').map(|setting| {
            let (name, value) = setting.split_once('\n').unwrap_or((setting, ""));
            let (section, key) = (name.split(['.', '"']).next().unwrap(), name.rsplit('.').next().unwrap());
            (section.to_owned(), key.to_owned(), value.to_owned())
        });
        let found = settings(text).into_iter().map(|(name, value)| {
            let (section, key) = (name.split('.').next().unwrap(), name.rsplit('.').next().unwrap());
            (section.to_owned(), key.to_owned(), value)
        });
        assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }

    #[test]
    fn the_regular_files_that_a_configuration_names_are_found() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        fs::create_dir_all(at(".config/git")).unwrap();
        fs::create_dir(at("directory")).unwrap();
        for name in ["ignore global", "attributes", "elsewhere"] {
            fs::write(at(name), "").unwrap();
        }
        let elsewhere = at("elsewhere");
        let own = "[include]\n\tpath = local\n\tpath = ~/none\n\tpath = ~/directory\n[include]\n\tpath = %(prefix)/local\n\
                   [core]\n\texcludesFile = \"~/ignore global\"\n";
        fs::write(at(".gitconfig"), own).unwrap();
        let local = format!(
            "[includeIf \"gitdir:~/work/\"]\n\tpath = ~/.config/git/work\n[core]\n\texcludesFile = {}\n",
            elsewhere.display()
        );
        fs::write(at("local"), local).unwrap();
        fs::write(
            at(".config/git/work"),
            "[include]\n\tpath = ../../local\n[core]\n\tattributesFile = ~/attributes\n\texcludesFile = attributes\n",
        )
        .unwrap();
        let found = GitFiles::of(home.path());
        assert_eq!(found.settings[..2], [at(".gitconfig"), at(".config/git/config")]);
        assert!(found.settings.contains(&at("local")) && found.settings.contains(&at(".config/git/work")));
        assert!(!found.settings.contains(&at("none")) && !found.settings.contains(&at("directory")));
        let rules =
            [at(".config/git/ignore"), at(".config/git/attributes"), at("ignore global"), elsewhere, at("attributes")];
        assert!(rules.iter().all(|path| found.rules.contains(path)), "{:?}", found.rules);
        assert!(found.rules.iter().all(|path| path.is_absolute()), "{:?}", found.rules);
    }

    /// A token for the repositories of one directory stops no work elsewhere.
    #[test]
    fn what_is_included_under_a_condition_is_left_out_if_it_contains_a_secret() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let token = "[github]\n\ttoken = x\n";
        for (name, text) in [
            (
                ".gitconfig",
                "[includeIf \"gitdir:~/work/\"]\n\tpath = work\n\tpath = token\n[include]\n\tpath = always\n",
            ),
            ("work", "[include]\n\tpath = deep\n"),
            ("token", &format!("{token}[core]\n\texcludesFile = ~/of-token\n")),
            ("deep", token),
            ("always", token),
            ("of-token", ""),
        ] {
            fs::write(at(name), text).unwrap();
        }
        let found = GitFiles::of(home.path());
        let granted = ["work", "token", "deep", "always"].map(|name| found.settings.contains(&at(name)));
        assert_eq!(granted, [true, false, false, true]);
        assert!(!found.rules.contains(&at("of-token")));
    }
}
