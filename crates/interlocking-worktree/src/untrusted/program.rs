//! Checks the programs that the user's configuration names: whether a program would be one that an agent can write.
//!
//! Filters and merge drivers run in the directory of the files. A program that is named relative to it
//! (`./tools/clean.sh`) is a script of the project, which an agent can change in its worktree. An interpreter, a build
//! tool or a pipeline can run code from there in more ways than a check can know; so only simple commands are accepted.

use std::{
    ffi::OsStr,
    path::{Component, Path},
};

use gix::bstr::ByteSlice as _;

use crate::{untrusted::Refused, values::git_error::GitError};

/// The settings that name programs that run on files.
const SETTINGS: [(&str, &[&str]); 2] = [("filter", &["clean", "smudge", "process"]), ("merge", &["driver"])];

/// Programs that are accepted by their names, with any arguments: none of these makes them run other code.
const KNOWN: &str = "\
    base64 bunzip2 bzip2 cat cut dos2unix expand false fold git-crypt git-lfs gunzip gzip head iconv nl rev tac tail \
    tr true unexpand unix2dos unxz xz zcat zstd";

/// Programs that run code that is named in their arguments, or that they look for in their directory: they are refused
/// by an absolute path, too.
const RUNNING_OTHERS: &str = "\
    R Rscript ansible-vault ant ash awk bash bazel bun bundle bunx busybox cabal cargo cmake composer csh ctest dash \
    deno doas dotnet ed env eslint exec expect fish flock gawk git gmake go gradle groovy grunt gsed guile gulp invoke \
    ionice ipython java jq julia just ksh lein lua luajit m4 make mawk meson mix mksh mvn nawk nice ninja node nodejs \
    nohup nox npm npx ocaml osascript parallel pdm perl php php-cs-fixer pipenv pnpm pnpx poetry prettier pwsh pylint \
    pypy python racket rake raku rubocop ruby sbt scons sed setsid sh stack stdbuf stylelint sudo swift task tclsh \
    tcsh time timeout tox ts-node tsx uv uvx xargs yarn zig zsh";

/// What to do about a program that is looked for there.
const ABSOLUTE: &str = "name it by an absolute path";
const SCRIPT: &str =
    "put it into a script elsewhere that takes no code from its directory, and name that by an absolute path";

/// A word of a command that may run something from the directory of the files.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    word: String,
    remedy: &'static str,
}

impl Found {
    fn new(word: impl Into<String>, remedy: &'static str) -> Self {
        Self { word: word.into(), remedy }
    }
}

/// Refuses a configuration that could run a program from the directory of the files.
///
/// `root` is a directory that an agent can write to. A user's own working tree is not checked.
pub(crate) fn check(git: &gix::Repository, root: &Path) -> Result<(), GitError> {
    let configuration = git.config_snapshot();
    let path = std::env::var_os("PATH");
    for (section, keys) in SETTINGS {
        for found in configuration.plumbing().sections_by_name(section).into_iter().flatten() {
            let Some(name) = found.header().subsection_name() else { continue };
            for key in keys {
                for command in found.values(key) {
                    let command = command.to_str_lossy();
                    if let Err(Found { word, remedy }) = check_command(&command, root, path.as_deref()) {
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

/// Checks a command that runs in `root`, where programs are looked for in `path`.
fn check_command(command: &str, root: &Path, path: Option<&OsStr>) -> Result<(), Found> {
    let words = words(command)?;
    let Some((program, arguments)) = words.split_first() else { return Ok(()) };
    let name = program.rsplit('/').next().unwrap_or(program);
    let is_safe = match program.contains('/') {
        true => is_below_home(program) || is_outside(program, root),
        false => !has_relative_part(path),
    };
    if !is_safe {
        return Err(Found::new(program, ABSOLUTE));
    }
    if is_one_of(KNOWN, name) || name == "git" && arguments.first().is_some_and(|command| command == "lfs") {
        return Ok(());
    }
    let language = name.trim_end_matches(|end: char| end.is_ascii_digit() || end == '.' || end == '-');
    if [name, language].iter().any(|name| is_one_of(RUNNING_OTHERS, name)) {
        return Err(Found::new(program, SCRIPT));
    }
    if !program.contains('/') {
        // A placeholder of git's, or a variable that is set for the program, has no path.
        return Err(Found::new(program, if program.contains(['%', '=']) { SCRIPT } else { ABSOLUTE }));
    }
    let inside = arguments.iter().find(|argument| !is_argument(argument, root));
    inside.map_or(Ok(()), |argument| Err(Found::new(argument, ABSOLUTE)))
}

/// Whether a word is a path below the user's home, which the shell puts in place of its `~`.
fn is_below_home(word: &str) -> bool {
    word.starts_with("~/") && !has_parent_part(word)
}

/// Whether a path leads elsewhere, wherever the program runs.
fn is_outside(path: &str, root: &Path) -> bool {
    path.starts_with('/') && !has_parent_part(path) && !Path::new(path).starts_with(root)
}

fn has_parent_part(path: &str) -> bool {
    Path::new(path).components().any(|part| part == Component::ParentDir)
}

/// Whether an argument, or the value of an option, is no path of a file inside, and no list with one: a placeholder of
/// git's, which it replaces by the path of the file that is read or written, or a word without a slash or an extension.
/// A shell replaces `~` neither in a value nor in a list.
fn is_argument(argument: &str, root: &Path) -> bool {
    const SEPARATORS: [char; 2] = [':', ','];
    let value = argument.split_once('=').map_or(argument, |(_, value)| value);
    !value.contains(['/', '.'])
        || is_below_home(argument) && !argument.contains(SEPARATORS)
        || value.split(SEPARATORS).all(|path| is_outside(path, root))
}

fn is_one_of(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|one| one == name)
}

/// Whether programs are also looked for in the directory of the files.
fn has_relative_part(path: Option<&OsStr>) -> bool {
    path.is_some_and(|path| std::env::split_paths(path).any(|part| !part.is_absolute()))
}

/// Splits a command into words as a shell does, if it is one command without variables and patterns. A word begins with
/// `~` only where the shell puts the user's home in its place.
fn words(command: &str) -> Result<Vec<String>, Found> {
    let mut words = Vec::new();
    // None between words.
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = command.chars();
    while let Some(character) = rest.next() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, ' ' | '\t') => words.extend(word.take()),
            (None | Some('"'), '$')
                if word.as_ref().is_none_or(String::is_empty) && rest.as_str().starts_with("HOME/") =>
            {
                word = Some("~".to_owned());
                rest = rest.as_str().strip_prefix("HOME").unwrap_or_default().chars();
            }
            (_, '~')
                if word.as_ref().is_some_and(String::is_empty) || word.is_none() && !rest.as_str().starts_with('/') =>
            {
                return Err(Found::new(character, ABSOLUTE));
            }
            // Git quotes what it puts in place of `%f`, which ends these quotes.
            (Some(_), '%') | (None | Some('"'), '$' | '`' | '\\') => return Err(Found::new(character, SCRIPT)),
            (None, ';' | '|' | '&' | '(' | ')' | '{' | '}' | '<' | '>' | '!' | '*' | '?' | '[' | ']' | '#' | '\n') => {
                return Err(Found::new(character, SCRIPT));
            }
            (_, character) => word.get_or_insert_default().push(character),
        }
    }
    if let Some(open) = quote {
        return Err(Found::new(open, SCRIPT));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_in(command: &str, path: &str) -> Option<Found> {
        check_command(command, Path::new("/run/work"), Some(OsStr::new(path))).err()
    }

    #[test]
    fn a_command_that_may_run_code_from_the_directory_of_the_files_is_refused() {
        for (command, word, remedy) in [
            ("./tools/clean.sh", "./tools/clean.sh", ABSOLUTE),
            ("tools/clean.sh %f", "tools/clean.sh", ABSOLUTE),
            ("\"tools/my clean.sh\"", "tools/my clean.sh", ABSOLUTE),
            ("../x", "../x", ABSOLUTE),
            ("/run/work/x", "/run/work/x", ABSOLUTE),
            ("/run/other/../work/x", "/run/other/../work/x", ABSOLUTE),
            ("$HOME/../work/x", "~/../work/x", ABSOLUTE),
            ("%f", "%f", SCRIPT),
            ("'%f'", "%", SCRIPT),
            ("/opt/x \"%f\"", "%", SCRIPT),
            ("$PWD/x", "$", SCRIPT),
            ("clean", "clean", ABSOLUTE),
            ("gpg --decrypt %f", "gpg", ABSOLUTE),
            ("nbstripout", "nbstripout", ABSOLUTE),
            ("'~/bin/x'", "~", ABSOLUTE),
            ("\"\"~/bin/x", "~", ABSOLUTE),
            ("~'/bin/x'", "~", ABSOLUTE),
            ("sh x.sh", "sh", SCRIPT),
            ("/bin/sh /opt/x.sh", "/bin/sh", SCRIPT),
            ("python3 -m strip", "python3", SCRIPT),
            ("/usr/bin/python3.11 %f", "/usr/bin/python3.11", SCRIPT),
            ("awk -fstrip.awk", "awk", SCRIPT),
            ("sed -nf x.sed", "sed", SCRIPT),
            ("sed -Ef x.sed", "sed", SCRIPT),
            ("/usr/bin/gawk --file=strip.awk", "/usr/bin/gawk", SCRIPT),
            ("m4 x.m4", "m4", SCRIPT),
            ("/usr/bin/m4 x", "/usr/bin/m4", SCRIPT),
            ("julia x.jl", "julia", SCRIPT),
            ("/usr/local/bin/guile-3.0 x", "/usr/local/bin/guile-3.0", SCRIPT),
            ("racket x", "racket", SCRIPT),
            ("raku x", "raku", SCRIPT),
            ("ocaml x.ml", "ocaml", SCRIPT),
            ("jq -f filter.jq", "jq", SCRIPT),
            ("make -s clean", "make", SCRIPT),
            ("npx prettier", "npx", SCRIPT),
            ("/usr/bin/prettier --stdin-filepath %f", "/usr/bin/prettier", SCRIPT),
            ("env ./x", "env", SCRIPT),
            ("/usr/bin/nice -n 5 ./x", "/usr/bin/nice", SCRIPT),
            ("xargs sh script", "xargs", SCRIPT),
            ("git x", "git", SCRIPT),
            ("git -c alias.lfs=!./x lfs", "!", SCRIPT),
            ("A=1 git-lfs clean", "A=1", SCRIPT),
            ("cat | ./x", "|", SCRIPT),
            ("cat %f;./x", ";", SCRIPT),
            ("true && tools/x", "&", SCRIPT),
            ("cat $(./x)", "$", SCRIPT),
            ("cat \"`./x`\"", "`", SCRIPT),
            ("cat 'x", "'", SCRIPT),
            ("/opt/x tools/x.py", "tools/x.py", ABSOLUTE),
            ("/opt/x x.py", "x.py", ABSOLUTE),
            ("/opt/x -fx.py", "-fx.py", ABSOLUTE),
            ("/opt/x --config=tools/x", "--config=tools/x", ABSOLUTE),
            ("/opt/x --config=/run/work/x", "--config=/run/work/x", ABSOLUTE),
            ("/opt/x --config=~/x", "--config=~/x", ABSOLUTE),
            ("/opt/x --path=/opt/lib:lib", "--path=/opt/lib:lib", ABSOLUTE),
            ("/opt/x /a.jar:./lib", "/a.jar:./lib", ABSOLUTE),
            ("/opt/x ~/a,lib", "~/a,lib", ABSOLUTE),
            ("/opt/x lib:/opt/lib", "lib:/opt/lib", ABSOLUTE),
        ] {
            assert_eq!(check_in(command, "/usr/bin:/bin"), Some(Found::new(word, remedy)), "{command}");
        }
        for path in ["", ".:/bin", "/bin:", "/bin::/x", "bin:/bin"] {
            assert!(check_in("cat", path).is_some() || path.is_empty(), "{path}");
            assert_eq!(check_in("/bin/cat", path), None, "{path}");
        }
    }

    #[test]
    fn a_known_program_and_one_elsewhere_are_accepted() {
        for command in [
            "git-lfs clean -- %f",
            "git-lfs filter-process",
            "git lfs smudge -- %f",
            "\"git-crypt\" smudge",
            "\"/usr/local/bin/git-crypt\" clean",
            "/usr/local/bin/filter --opt %f",
            "/opt/tools/clean.sh tools",
            "'/opt/my tools/clean' --style=gnu --config=/etc/x.conf /opt/y.sh",
            "/opt/merge %O %A %B %L %P",
            "/opt/x --lang node --assume-filename=%f",
            "/home/me/.local/bin/nbstripout",
            "tr a-z A-Z",
            "cat",
            "true",
            "~/bin/clean %f",
            "/opt/clean ~/clean.conf --path=/opt/lib:/usr/lib,/lib a,b:c",
            "$HOME/bin/clean",
            "\"$HOME/bin/clean\"",
            "",
        ] {
            assert_eq!(check_in(command, "/usr/bin:/bin"), None, "{command}");
        }
    }
}
