//! What an interpreter runs: a script, code in an argument, or code that it looks for in its directory.
//!
//! Only forms that are known to run nothing from there are accepted: a script with an absolute path, after options that
//! load no code, code in an argument of a shell, Perl or Ruby, and Java's classes below absolute paths.

use crate::untrusted::program::{ABSOLUTE, Found, Place, is_absolute};

const ISOLATED: &str =
    "Python imports from that directory first; write `python3 -I -m …`, or `-P` for packages of the user's own";
const CLASSES: &str =
    "Java looks for classes in that directory; write `java -cp … …` or `java -jar …` with absolute paths";
const SCRIPT: &str = "put the code into a script, and name that by an absolute path";

/// The kinds of interpreters that differ in their options.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Shell,
    /// The shell's `.` and `source`, which look for a script in the directory, too.
    Source,
    Python,
    Node,
    Perl,
    Ruby,
    Java,
    /// They look for libraries in the directory, so that only a script is accepted.
    Other,
}

impl Language {
    /// The language of a program, if it is an interpreter.
    pub(super) fn of(program: &str) -> Option<Self> {
        let name = program.rsplit('/').next().unwrap_or(program);
        Some(match name.trim_end_matches(|end: char| end.is_ascii_digit() || end == '.') {
            "sh" | "bash" | "dash" | "ash" | "zsh" | "ksh" | "mksh" | "fish" => Self::Shell,
            "source" => Self::Source,
            "" if name == "." => Self::Source,
            "python" | "pypy" | "ipython" => Self::Python,
            "node" | "nodejs" => Self::Node,
            "perl" => Self::Perl,
            "ruby" => Self::Ruby,
            "java" => Self::Java,
            "php" | "lua" | "luajit" | "csh" | "tcsh" | "tclsh" | "pwsh" | "osascript" | "expect" => Self::Other,
            _ => return None,
        })
    }

    /// The short options that take a value, which follows in the same word or is the next one.
    fn valued(self) -> &'static str {
        match self {
            Self::Shell => "oO",
            Self::Python => "cmQWX",
            Self::Perl => "eEI",
            Self::Ruby => "eICXr",
            Self::Node | Self::Source | Self::Java | Self::Other => "",
        }
    }

    /// The short options after which the rest of the word is a value.
    fn attached(self) -> &'static str {
        match self {
            Self::Perl => "CDFMdimx",
            Self::Ruby => "EFKTWix",
            _ => "",
        }
    }
}

/// The part of an interpreter's arguments that runs something from the directory.
pub(super) fn find(language: Language, arguments: &[&str], place: Place<'_>) -> Option<Found> {
    if language == Language::Java {
        return find_for_java(arguments);
    }
    let mut arguments = arguments.iter().copied();
    // Whether code was given: a script is none of the arguments then. For a shell, whether the next argument is code.
    let (mut has_code, mut is_isolated) = (false, false);
    while let Some(word) = arguments.next() {
        let Some(option) = word.strip_prefix('-').filter(|option| !option.is_empty()) else {
            return match language {
                Language::Shell if has_code => place.find_in(word),
                _ if has_code || is_absolute(word) => None,
                _ => Some(Found::new(word, ABSOLUTE)),
            };
        };
        if option.starts_with('-') {
            if !is_harmless(language, word) {
                return Some(Found::new(word, SCRIPT));
            }
            continue;
        }
        if matches!(language, Language::Node | Language::Source | Language::Other) {
            return Some(Found::new(word, SCRIPT));
        }
        let mut letters = option.chars();
        while let Some(letter) = letters.next() {
            let rest = letters.as_str();
            let value = if language.attached().contains(letter) {
                rest
            } else if language.valued().contains(letter) && (language == Language::Shell || rest.is_empty()) {
                arguments.next().unwrap_or_default()
            } else if language.valued().contains(letter) {
                rest
            } else {
                ""
            };
            match (language, letter) {
                (Language::Python, 'c' | 'm') if is_isolated => return None,
                (Language::Python, 'c' | 'm') => return Some(Found::new(value, ISOLATED)),
                (Language::Python, 'I' | 'P') => is_isolated = true,
                (Language::Shell, 'c') | (Language::Perl | Language::Ruby, 'e') | (Language::Perl, 'E') => {
                    has_code = true
                }
                // The directories of libraries, and the directory to change to.
                (Language::Perl | Language::Ruby, 'I') | (Language::Ruby, 'C' | 'X') if !is_absolute(value) => {
                    return Some(Found::new(word, ABSOLUTE));
                }
                (Language::Ruby, 'r') if value.starts_with('.') => return Some(Found::new(word, ABSOLUTE)),
                (Language::Perl, 'M' | 'm') if value.strip_prefix("lib=").is_some_and(|path| !is_absolute(path)) => {
                    return Some(Found::new(word, ABSOLUTE));
                }
                // The code is read from standard input, where git writes the agent's file.
                (Language::Shell, 's') | (Language::Python, 'i') => return Some(Found::new(word, SCRIPT)),
                _ => {}
            }
            if language != Language::Shell
                && (language.attached().contains(letter) || language.valued().contains(letter))
            {
                break;
            }
        }
    }
    // Without a script, standard input is the code.
    (!has_code || language == Language::Shell).then(|| Found::new("standard input", SCRIPT))
}

/// Like [`find`]. Java looks for classes in its directory, unless it is given a path for them.
fn find_for_java(arguments: &[&str]) -> Option<Found> {
    let mut arguments = arguments.iter().copied();
    let mut has_path = false;
    while let Some(word) = arguments.next() {
        if ["-jar", "-cp", "-classpath", "--class-path"].contains(&word) {
            let value = arguments.next().unwrap_or_default();
            if value.split(':').any(|part| !is_absolute(part)) {
                return Some(Found::new(value, ABSOLUTE));
            }
            has_path = true;
            if word == "-jar" {
                return None;
            }
        } else if word.starts_with('@') {
            // A file of further arguments.
            return Some(Found::new(word, SCRIPT));
        } else if !word.starts_with('-') {
            // The name of a class or of a source file. Git replaces `%f` by the path of an agent's file.
            let is_elsewhere = is_absolute(word) || !word.ends_with(".java") && !word.contains('%');
            return (!has_path || !is_elsewhere).then(|| Found::new(word, CLASSES));
        } else if !is_harmless(Language::Java, word) {
            return Some(Found::new(word, SCRIPT));
        }
    }
    None
}

/// Whether a long option loads no code.
fn is_harmless(language: Language, option: &str) -> bool {
    match language {
        Language::Shell => ["--login", "--noprofile", "--norc", "--posix"].contains(&option),
        Language::Node => ["--no-", "--max-", "--trace-", "--stack-", "--use-", "--enable-source-maps"]
            .iter()
            .any(|beginning| option.starts_with(beginning)),
        Language::Ruby => ["--disable", "--enable", "--encoding=", "--jit", "--yjit"]
            .iter()
            .any(|beginning| option.starts_with(beginning)),
        Language::Java => {
            ["-ea", "-server"].contains(&option)
                || ["-D", "-Xm", "-Xs", "-XX:+Use"].iter().any(|beginning| option.starts_with(beginning))
        }
        Language::Python | Language::Perl | Language::Source | Language::Other => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_that_looks_for_code_in_its_directory_is_found() {
        let place = tempfile::tempdir().unwrap();
        let found = |command: &str| Place::new(place.path(), None).find_in(command);
        for (command, word) in [
            ("\"/usr/bin/python3\" -m nbstripout", "nbstripout"),
            ("python3.11 -um json.tool", "json.tool"),
            ("python3 -c 'import json'", "import json"),
            ("python3 -cI", "I"),
            ("python3 -W ignore -m x", "x"),
            ("python3 -X dev -m x -I", "x"),
            ("python3 x", "x"),
            ("python3", "standard input"),
            ("python3 -", "-"),
            ("python3 -I %f", "%f"),
            ("python3 -i /x.py", "-i"),
            ("node -e 'require(\"x\")'", "-e"),
            ("node -pe 1", "-pe"),
            ("node -r x /x.js", "-r"),
            ("node --import x /x.js", "--import"),
            ("node --require=./x /x.js", "--require=./x"),
            ("node --env-file=.env /x.js", "--env-file=.env"),
            ("node x", "x"),
            ("perl -I. -pe 1", "-I."),
            ("perl -pe 1 -I lib", "-I"),
            ("perl -Mlib=lib -pe 1", "-Mlib=lib"),
            ("perl x %f", "x"),
            ("perl", "standard input"),
            ("ruby -I lib -e 1", "-I"),
            ("ruby -r./x -e 1", "-r./x"),
            ("ruby -E UTF-8", "UTF-8"),
            ("perl -0xe x", "x"),
            ("env -S 'sh x'", "x"),
            ("BASH_ENV=x bash /x", "BASH_ENV=x"),
            ("NODE_OPTIONS='-r x' node /x.js", "NODE_OPTIONS=-r x"),
            ("ruby -C sub /x.rb", "-C"),
            ("lua -e 'require \"x\"'", "-e"),
            ("php -r 'include \"x\";'", "-r"),
            ("java Main", "Main"),
            ("java -Xmx64m -cp lib:/x Main", "lib:/x"),
            ("java -cp /x: Main", "/x:"),
            ("java -jar x.jar", "x.jar"),
            ("/usr/bin/java -javaagent:x.jar -jar /x.jar", "-javaagent:x.jar"),
            ("java Main.java", "Main.java"),
            ("java /x/Main.java", "/x/Main.java"),
            ("java -cp /x Main.java", "Main.java"),
            ("java -cp /x %f", "%f"),
            ("java -cp /x @args Main", "@args"),
            ("JAVA_TOOL_OPTIONS=-javaagent:x.jar java -jar /x.jar", "JAVA_TOOL_OPTIONS=-javaagent:x.jar"),
            ("JDK_JAVA_OPTIONS=@x java -jar /x.jar", "JDK_JAVA_OPTIONS=@x"),
            ("_JAVA_OPTIONS=-javaagent:x.jar java -jar /x.jar", "_JAVA_OPTIONS=-javaagent:x.jar"),
            ("sh %f", "%f"),
            ("sh x", "x"),
            ("sh -s", "-s"),
            ("sh -euo pipefail -c 'cat; sh x'", "x"),
            ("bash -xc 'python3 -m x'", "x"),
            ("sh -c '. x'", "x"),
            ("$PWD/x", "$PWD/x"),
        ] {
            assert_eq!(found(command).map(|found| found.word).as_deref(), Some(word), "{command}");
        }
        assert!(found("python3 -m x").unwrap().remedy.contains("`python3 -I -m …`"));
        for command in [
            "python3 -I -m json.tool",
            "python3 -Im nbstripout",
            "python3 -P -c 'import json'",
            "python3 -uIc 'import json'",
            "python3 -W ignore -I -X dev -m x",
            "python3 -u /x.py -m x",
            "node --no-warnings --max-old-space-size=64 /x.js -e",
            "perl -pe 's/tools/x/' %f",
            "perl -0777 -i.bak -F: -lane 's/tools/x/' -I/x",
            "perl -MJSON -Mlib=/x -ne 1",
            "perl -T /x.pl %f",
            "ruby -rjson -ne 1",
            "ruby --disable=gems -I /x /x.rb",
            "lua /x.lua",
            "java -Xmx64m -Dx=y -jar /x.jar x",
            "java -cp /x:$HOME/y.jar Main",
            "java --class-path /x Main %f @x",
            "java -cp /x /x/Main.java",
            "java -server -ea -XX:+UseSerialGC -jar /x.jar",
            "sh /x %f",
            "sh -euo pipefail -c 'cat | tr a b' x",
            "bash --norc -ec 'python3 -I -m x'",
            "~/.pyenv/shims/python3 ~/x.py",
        ] {
            assert_eq!(found(command), None, "{command}");
        }
    }
}
