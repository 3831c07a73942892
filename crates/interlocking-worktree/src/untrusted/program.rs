//! Checks the programs that the user's configuration names: whether a program would be one that an agent can write.
//!
//! Filters and merge drivers run in the directory of the files. A program that is named relative to it
//! (`./tools/clean.sh`) is a script of the project, which an agent can change in its worktree.

use std::{ffi::OsStr, path::Path};

use gix::bstr::ByteSlice as _;

use crate::{
    untrusted::{
        Refused,
        interpreter::{self, Language},
    },
    values::git_error::GitError,
};

/// The settings that name programs that run on files.
const SETTINGS: [(&str, &[&str]); 2] = [("filter", &["clean", "smudge", "process"]), ("merge", &["driver"])];

/// Programs, and words of the shell, before another program.
const PREFIXES: &str = "\
    busybox command do doas elif else env exec flock if ionice nice nohup parallel setsid stdbuf sudo then time \
    timeout until while xargs";

/// Programs that run what files in the working directory say.
const RUNNERS: &str = "\
    R Rscript ansible-vault ant bazel bun bunx bundle cabal cargo cmake composer ctest deno dotnet eslint gmake go \
    gradle gradlew groovy grunt gulp invoke just lein make meson mix mvn mvnw ninja nox npm npx pdm php-cs-fixer \
    pipenv pnpm pnpx poetry prettier pylint rake rubocop sbt scons stack stylelint swift task tox ts-node tsx uv uvx \
    yarn zig";

/// A word of a command that runs something from the directory of the files.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) word: String,
    pub(super) remedy: &'static str,
}

impl Found {
    pub(super) fn new(word: &str, remedy: &'static str) -> Self {
        Self { word: word.to_owned(), remedy }
    }
}

/// What to do about a program or a script that is looked for there.
pub(super) const ABSOLUTE: &str = "name it by an absolute path";
const ELSEWHERE: &str =
    "put it into a script elsewhere that changes its directory first, and name that by an absolute path";

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
                    if let Some(Found { word, remedy }) = Place::new(root, path.as_deref()).find_in(&command) {
                        let setting = format!("{section}.{name}.{key}");
                        let refused = Refused::Program { setting, command: command.into_owned(), word, remedy };
                        return Err(GitError::refused(format!("working in {}", root.display()), refused));
                    }
                }
            }
        }
    }
    Ok(())
}

/// Where commands run, and the `PATH` in which their programs are looked for.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    root: &'a Path,
    path: Option<&'a OsStr>,
}

impl<'a> Place<'a> {
    pub(super) fn new(root: &'a Path, path: Option<&'a OsStr>) -> Self {
        Self { root, path }
    }

    /// The word of a command line that runs something from the directory, if there is one.
    pub(super) fn find_in(self, line: &str) -> Option<Found> {
        let words = words(line);
        words.split(Option::is_none).find_map(|command| {
            let command: Vec<&str> = command.iter().flatten().map(String::as_str).collect();
            self.find_in_command(&command)
        })
    }

    fn find_in_command(self, command: &[&str]) -> Option<Found> {
        let mut has_prefix = false;
        for (number, word) in command.iter().enumerate() {
            let name = word.rsplit('/').next().unwrap_or(word);
            if let Some((variable, value)) = assignment(word) {
                if value.split(':').any(|part| is_relative_in(variable, part)) {
                    return Some(Found::new(word, ABSOLUTE));
                }
            } else if is_one_of(PREFIXES, name) && self.is_safe_program(word) {
                has_prefix = true;
            } else if has_prefix && word.contains(char::is_whitespace) {
                return self.find_in(word);
            // An option, or the number of `nice` and `timeout`.
            } else if !has_prefix || !word.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
                return self.find_from_program(command.get(number..).unwrap_or_default(), has_prefix);
            }
        }
        None
    }

    /// Looks at a program and its arguments.
    fn find_from_program(self, command: &[&str], has_prefix: bool) -> Option<Found> {
        let (program, arguments) = command.split_first()?;
        let name = program.rsplit('/').next().unwrap_or(program);
        if !self.is_safe_program(program) {
            return Some(Found::new(program, ABSOLUTE));
        }
        if is_one_of(RUNNERS, name) {
            return Some(Found::new(program, ELSEWHERE));
        }
        if *program == "eval" {
            return self.find_in(&arguments.join(" "));
        }
        if let Some(language) = Language::of(program) {
            return interpreter::find(language, arguments, self);
        }
        let mut is_script = false;
        for (number, word) in arguments.iter().enumerate() {
            let is_program = |word: &str| Language::of(word).is_some() || is_one_of(RUNNERS, word);
            if has_prefix && is_program(word.rsplit('/').next().unwrap_or(word)) {
                return self.find_from_program(arguments.get(number..)?, has_prefix);
            }
            if is_script && self.may_be_script(word) || self.is_path_inside(word) {
                return Some(Found::new(word, ABSOLUTE));
            }
            // The script option of awk, jq and sed.
            is_script = *word == "-f";
        }
        None
    }

    fn is_safe_program(self, program: &str) -> bool {
        if program.contains('/') {
            is_absolute(program)
        } else {
            !program.starts_with('%') && !has_relative_part(self.path)
        }
    }

    fn is_there(self, name: &str) -> bool {
        !name.is_empty() && self.root.join(name).symlink_metadata().is_ok()
    }

    fn may_be_script(self, word: &str) -> bool {
        !is_absolute(word) && (self.is_there(word) || Path::new(word).extension().is_some())
    }

    fn is_path_inside(self, argument: &str) -> bool {
        let value =
            if argument.starts_with('-') { argument.split_once('=').map_or("", |(_, value)| value) } else { argument };
        leads(value) || !value.starts_with(['/', '~', '$', '%']) && value.contains('/') && self.is_there(value)
    }
}

fn is_one_of(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|one| one == name)
}

fn leads(path: &str) -> bool {
    path.starts_with("./") || path.starts_with("../")
}

/// Whether a path does not depend on the directory. Git replaces `%f` and the like by paths of the agent's files.
pub(super) fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '~', '$']) && !path.starts_with("$PWD")
}

/// A variable that is set for a command.
fn assignment(word: &str) -> Option<(&str, &str)> {
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    word.split_once('=').filter(|(name, _)| is_name(name))
}

/// Variables that name code.
const CODE: [&str; 8] = [
    "BASH_ENV",
    "ENV",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "NODE_OPTIONS",
    "PERL5OPT",
    "RUBYOPT",
    "_JAVA_OPTIONS",
];

/// Whether a part of a variable's value is a directory or a file inside.
fn is_relative_in(variable: &str, part: &str) -> bool {
    let names_code = variable.ends_with("PATH") || variable.ends_with("LIB") || CODE.contains(&variable);
    part == "." || leads(part) || names_code && !is_absolute(part)
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
        let found = |command: &str| Place::new(place.path(), path).find_in(command).map(|found| found.word);
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
            ("ansible-vault decrypt --output - %f", "ansible-vault"),
            ("/usr/bin/prettier --stdin-filepath %f", "/usr/bin/prettier"),
            ("nice -n 5 deno run /x.ts", "deno"),
            ("nice -n 5 sh script", "script"),
            ("timeout 5s sudo -u me sh /x %f; timeout 5s sudo -u me python3 -m x", "x"),
            ("if true; then sh script; fi", "script"),
            ("PYTHONPATH=lib python3 /x.py", "PYTHONPATH=lib"),
            ("NODE_OPTIONS=./x node /x.js", "NODE_OPTIONS=./x"),
            ("eval 'sh script'", "script"),
            ("%f", "%f"),
            ("xargs sh script", "script"),
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
            "A=1 git-crypt clean",
            "nice -n 5 git-lfs clean -- %f",
            "\"git-crypt\" smudge",
            "jq --indent 1 'del(.metadata)'",
            "/opt/x --lang node --parser ruby",
            "clang-format --assume-filename=%f",
            "~/bin/clean %f",
            "$HOME/bin/clean",
            "indent --profile=linux",
            "",
        ] {
            assert_eq!(found(command), None, "{command}");
        }
        let in_path = |command: &str, path: &str| Place::new(place.path(), Some(OsStr::new(path))).find_in(command);
        for path in ["", ".:/bin", "/bin:", "/bin::/x", "bin:/bin"] {
            assert!(in_path("cat", path).is_some() || path.is_empty(), "{path}");
            assert_eq!(in_path("/bin/cat", path), None, "{path}");
        }
    }
}
