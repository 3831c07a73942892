//! Checks the programs that the user's configuration names: whether a program would be one that an agent can write.
//!
//! Filters and merge drivers run in the directory of the files. A program that is named relative to it
//! (`./tools/clean.sh`) is a script of the project, which an agent can change in its worktree.

use std::{ffi::OsStr, path::Path};

use gix::bstr::ByteSlice as _;

use crate::{untrusted::Refused, values::git_error::GitError};

/// The settings that name programs that run on files.
const SETTINGS: [(&str, &[&str]); 2] = [("filter", &["clean", "smudge", "process"]), ("merge", &["driver"])];

/// Programs that run the program named by their next argument.
const PREFIXES: [&str; 7] = ["env", "exec", "command", "nohup", "nice", "time", "sudo"];

/// Programs that run a script, which is their first argument that is not an option.
const INTERPRETERS: [&str; 10] = ["sh", "bash", "dash", "zsh", "ksh", "perl", "ruby", "node", "php", "lua"];

/// Interpreters that run the code after their option `-e`.
const WITH_CODE: [&str; 4] = ["perl", "ruby", "node", "lua"];

/// Programs that run what files in the working directory say.
const RUNNERS: [&str; 14] =
    ["make", "just", "npx", "npm", "pnpm", "yarn", "bunx", "cargo", "go", "rake", "bundle", "poetry", "pipenv", "uv"];

/// Refuses a configuration that would run a program from the directory of the files.
///
/// `root` is a directory that an agent can write to. A user's own working tree is not checked.
pub(crate) fn check(git: &gix::Repository, root: &Path) -> Result<(), GitError> {
    let configuration = git.config_snapshot();
    for (section, keys) in SETTINGS {
        for found in configuration.plumbing().sections_by_name(section).into_iter().flatten() {
            let Some(name) = found.header().subsection_name() else { continue };
            for key in keys {
                for command in found.values(key) {
                    let command = command.to_str_lossy();
                    let path = std::env::var_os("PATH");
                    if let Some(word) = find_word_run_from(&command, root, path.as_deref()) {
                        let setting = format!("{section}.{name}.{key}");
                        let refused = Refused::Program { setting, command: command.into_owned(), word };
                        return Err(GitError::refused(format!("working in {}", root.display()), refused));
                    }
                }
            }
        }
    }
    Ok(())
}

/// The role of a word in a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Program,
    /// The script that an interpreter runs.
    Script,
    /// A whole command line.
    Line,
    /// A Python module, which Python looks for in the directory first.
    Module,
    Argument,
}

/// The word of a command that runs something from `root`, if there is one. `path` is the `PATH` in which programs are
/// looked for.
fn find_word_run_from(command: &str, root: &Path, path: Option<&OsStr>) -> Option<String> {
    let is_there = |name: &str| !name.is_empty() && root.join(name).symlink_metadata().is_ok();
    let (mut part, mut takes_code) = (Part::Program, false);
    for word in words(command) {
        let Some(word) = word else {
            part = Part::Program;
            continue;
        };
        let is_relative = !word.starts_with(['/', '~', '$', '%']);
        let leads = word.starts_with("./") || word.starts_with("../");
        let (name, is_option) = (word.rsplit('/').next().unwrap_or(&word), word.starts_with('-'));
        let is_found = match part {
            // Variables that are set for the command.
            Part::Program if is_option || is_assignment(&word) => continue,
            Part::Program => {
                let is_python = name.starts_with("python");
                takes_code = WITH_CODE.contains(&name);
                let is_interpreter = is_python || INTERPRETERS.contains(&name);
                let runs_what_is_there = RUNNERS.contains(&name);
                part = match name {
                    name if PREFIXES.contains(&name) => Part::Program,
                    _ if is_interpreter => Part::Script,
                    _ => Part::Argument,
                };
                let is_in_place = if word.contains('/') { is_relative } else { has_relative_part(path) };
                is_in_place || runs_what_is_there
            }
            Part::Script if word == "-c" || word == "-ec" || word == "-lc" => {
                part = Part::Line;
                continue;
            }
            Part::Script if word == "-m" => {
                part = Part::Module;
                continue;
            }
            // Code instead of a script; files follow.
            Part::Script if takes_code && is_option && word.ends_with('e') => {
                part = Part::Argument;
                continue;
            }
            Part::Script if is_option => is_there(option_value(&word)),
            Part::Script => {
                part = Part::Argument;
                is_relative && (leads || is_there(&word) || Path::new(&word).extension().is_some())
            }
            Part::Line => {
                part = Part::Argument;
                find_word_run_from(&word, root, path).is_some()
            }
            Part::Module => {
                part = Part::Argument;
                let first = word.split('.').next().unwrap_or(&word);
                is_there(first) || is_there(&format!("{first}.py"))
            }
            // The script option of awk, jq and sed.
            Part::Argument if word == "-f" => {
                part = Part::Script;
                continue;
            }
            Part::Argument => {
                let value = if is_option { option_value(&word) } else { &word };
                let leads = value.starts_with("./") || value.starts_with("../");
                is_relative && !value.starts_with('/') && (leads || value.contains('/') && is_there(value))
            }
        };
        if is_found {
            return Some(word);
        }
    }
    None
}

fn is_assignment(word: &str) -> bool {
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

fn option_value(option: &str) -> &str {
    option.split_once('=').map_or("", |(_, value)| value)
}

/// Whether programs are also looked for in the directory of the files.
fn has_relative_part(path: Option<&OsStr>) -> bool {
    path.is_some_and(|path| std::env::split_paths(path).any(|part| !part.is_absolute()))
}

/// Splits a command into words as a shell does; none stands for the beginning of another command.
fn words(command: &str) -> Vec<Option<String>> {
    let mut words = Vec::new();
    let (mut word, mut has_begun) = (String::new(), false);
    let mut quote = None;
    let mut characters = command.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (Some('\''), character) => word.push(character),
            (None, '\'' | '"') => (quote, has_begun) = (Some(character), true),
            (_, '\\') => {
                has_begun = true;
                word.extend(characters.next());
            }
            // Nested commands, also between double quotes.
            (_, '`') | (None, ';' | '|' | '&' | '(' | ')' | '{' | '}' | '\n' | '!') => {
                words.extend(std::mem::take(&mut has_begun).then(|| Some(std::mem::take(&mut word))));
                words.push(None);
            }
            (Some(_), '(') if word.ends_with('$') => {
                word.clear();
                words.push(None);
                (quote, has_begun) = (None, false);
            }
            (None, ' ' | '\t' | '<' | '>') => {
                words.extend(std::mem::take(&mut has_begun).then(|| Some(std::mem::take(&mut word))));
            }
            (_, character) => {
                has_begun = true;
                word.push(character);
            }
        }
    }
    words.extend(has_begun.then_some(Some(word)));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_from_the_directory_of_the_files_is_found() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(place.path().join("tools")).unwrap();
        std::fs::create_dir_all(place.path().join("clean")).unwrap();
        for file in ["tools/x.py", "strip.py", "script"] {
            std::fs::write(place.path().join(file), "").unwrap();
        }
        let path = Some(OsStr::new("/usr/bin:/bin"));
        let found = |command: &str| find_word_run_from(command, place.path(), path);
        for (command, word) in [
            ("./tools/clean.sh", "./tools/clean.sh"),
            ("tools/clean.sh %f", "tools/clean.sh"),
            ("\"tools/my clean.sh\"", "tools/my clean.sh"),
            ("'./x'", "./x"),
            ("../x", "../x"),
            ("sh tools/x.sh", "tools/x.sh"),
            ("sh -e x.sh", "x.sh"),
            ("/bin/sh ./x", "./x"),
            ("sh script", "script"),
            ("python3 -u strip.py", "strip.py"),
            ("\"/usr/bin/python3\" -m strip", "strip"),
            ("python3 -m tools.x", "tools.x"),
            ("sh -c './tools/x.sh'", "./tools/x.sh"),
            ("env A=1 ./x", "./x"),
            ("A=1 ./x", "./x"),
            ("cat | ./x", "./x"),
            ("cat %f;./x", "./x"),
            ("true && tools/x", "tools/x"),
            ("echo $(./x)", "./x"),
            ("echo \"$(./x)\"", "./x"),
            ("echo \"`./x`\"", "./x"),
            ("perl --config=tools/x.py run", "--config=tools/x.py"),
            ("jq -f ./filter.jq", "./filter.jq"),
            ("awk -f strip.awk", "strip.awk"),
            ("my-filter tools/x.py", "tools/x.py"),
            ("npx prettier", "npx"),
            ("make -s clean", "make"),
        ] {
            let found = found(command);
            assert!(found.is_some(), "{command}");
            assert!(
                command.contains("-c") || command.contains("./x") || found.as_deref() == Some(word),
                "{command}: {found:?}"
            );
        }
        for command in [
            "git-lfs clean -- %f",
            "git-lfs filter-process",
            "git lfs clean -- %f",
            "/opt/tools/clean.sh tools",
            "sed 's/a/b/'",
            "sed -e s/a/b/ -e 's/./x/'",
            "perl -pe 's/tools/x/'",
            "tr a-z A-Z",
            "cat",
            "sh -c 'cat %f'",
            "\"/usr/bin/python3\" -m nbstripout",
            "~/bin/clean %f",
            "$HOME/bin/clean",
            "indent --profile=linux",
            "",
        ] {
            assert_eq!(found(command), None, "{command}");
        }
        for path in ["", ".:/bin", "/bin:", "/bin::/x", "bin:/bin"] {
            assert!(
                find_word_run_from("cat", place.path(), Some(OsStr::new(path))).is_some() || path.is_empty(),
                "{path}"
            );
            assert_eq!(find_word_run_from("/bin/cat", place.path(), Some(OsStr::new(path))), None, "{path}");
        }
    }
}
