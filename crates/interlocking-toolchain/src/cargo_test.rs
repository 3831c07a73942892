//! Builds the test programs of a `cargo test` without running them.

use super::command::CommandLine;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The test command is not a `cargo test` that can be made to build its test programs without running them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotCargoTest {
    /// It is another command.
    #[error(
        "`{command}` is not a `cargo test`, and with `harness = \"libtest\"` each test is run by itself, from what `cargo test` builds; name that, or use `harness = \"exitCode\"`, where the command's exit code is all that counts"
    )]
    OtherCommand {
        /// The command.
        command: String,
    },
    /// It has an option that decides what is built, where, or what cargo prints of it.
    #[error(
        "`{command}` has the option `{option}`, and with `harness = \"libtest\"` each test is run by itself, from programs that are built and found without it; leave it out, or use `harness = \"exitCode\"`, where the command's exit code is all that counts"
    )]
    UnusableOption {
        /// The command.
        command: String,
        /// The option.
        option: String,
    },
}

/// A `cargo test` split into two steps: building the test programs, and running them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CargoTest {
    /// The command that builds the test programs and lists them.
    pub(super) build: CommandLine,
    /// The other arguments for the test programs, without those that select tests by name or set the number of threads, as each
    /// test runs in a process of its own, and without those for the output, as verdicts are read from it.
    pub(super) arguments: Vec<String>,
    /// Whether these arguments make a test program leave out some of its tests.
    pub(super) is_selective: bool,
    /// Whether only one test runs at a time.
    pub(super) is_serial: bool,
    /// Which tests run.
    pub(super) chosen: Chosen,
}

/// The filter that selects tests, by the names that the test file gives them: the programs' own names are random.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chosen {
    /// A name must contain one of these, unless there are none.
    filters: Vec<String>,
    /// A name must contain none of these.
    skipped: Vec<String>,
    /// Whether both kinds of filters must equal the name, instead of being part of it.
    is_exact: bool,
}

impl Chosen {
    /// Whether the test of this name is selected.
    pub(super) fn has(&self, name: &str) -> bool {
        let fits = |word: &String| if self.is_exact { name == word } else { name.contains(word) };
        (self.filters.is_empty() || self.filters.iter().any(fits)) && !self.skipped.iter().any(fits)
    }
}

/// Options of `cargo test` that are followed by a value.
const WITH_VALUE: [&str; 21] = [
    "-p",
    "--package",
    "--exclude",
    "--bin",
    "--example",
    "--test",
    "--bench",
    "-F",
    "--features",
    "-j",
    "--jobs",
    "--profile",
    "--target",
    "--target-dir",
    "--manifest-path",
    "--lockfile-path",
    "--message-format",
    "--color",
    "--config",
    "-Z",
    "-C",
];

/// Options of `cargo test` that a build of the test programs sets itself, or with which it has none.
const UNUSABLE: [&str; 4] = ["--no-run", "--message-format", "--target-dir", "--doc"];

/// Options of a test program that are followed by a value.
const PROGRAM_WITH_VALUE: [&str; 7] =
    ["--skip", "--test-threads", "--format", "--color", "--logfile", "--shuffle-seed", "-Z"];

/// The option of a test program for the number of tests that run at a time.
const THREADS: &str = "--test-threads";

/// The option of a test program that excludes tests whose name contains its value.
const SKIP: &str = "--skip";

/// The option of a test program with which filters must equal a test's name.
const EXACT: &str = "--exact";

/// Options of a test program that concern only its output.
const OUTPUT: [&str; 9] = [
    "--nocapture",
    "--no-capture",
    "--show-output",
    "-q",
    "--quiet",
    "--format",
    "--color",
    "--logfile",
    "--report-time",
];

/// Options with which a test program leaves out some of its tests, whatever their names.
const SELECTIVE: [&str; 2] = ["--ignored", "--exclude-should-panic"];

/// The name of an option, without a value that follows it after `=`.
fn name_of<'a>(option: &[&'a str]) -> &'a str {
    option[0].split_once('=').map_or(option[0], |(name, _)| name)
}

/// Separates options with their values from other words; each in their order.
fn options_and_words<'a>(all: &[&'a str], with_value: &[&str]) -> (Vec<Vec<&'a str>>, Vec<&'a str>) {
    let (mut options, mut words) = (Vec::new(), Vec::new());
    let mut all = all.iter().copied();
    while let Some(word) = all.next() {
        if !word.starts_with('-') {
            words.push(word);
        } else if with_value.contains(&word) {
            options.push([word].into_iter().chain(all.next()).collect());
        } else {
            options.push(vec![word]);
        }
    }
    (options, words)
}

/// What a `cargo test --no-run` has built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Built {
    /// The test programs, each with the directory of its package.
    pub(super) tests: Vec<(PathBuf, PathBuf)>,
    /// Other files that the test programs may execute: the packages' own programs and shared libraries.
    pub(super) others: Vec<PathBuf>,
    /// Programs that cargo names outside the target directory. This build has not made them.
    pub(super) outside: Vec<PathBuf>,
    /// The compiler's errors, rendered for people.
    pub(super) rendered: String,
}

impl CargoTest {
    /// Splits a `cargo test` command into its two steps.
    pub(super) fn of(command: &CommandLine) -> Result<Self, NotCargoTest> {
        let not_one = || NotCargoTest::OtherCommand { command: command.to_string() };
        let program = Path::new(command.program()).file_stem().and_then(|stem| stem.to_str());
        let mut words = command.arguments().iter().filter(|word| !word.starts_with('+'));
        if program != Some("cargo") || !words.next().is_some_and(|word| word == "test" || word == "t") {
            return Err(not_one());
        }
        let mut own =
            command.arguments().iter().take_while(|word| *word != "--").map(String::as_str).collect::<Vec<_>>();
        let programs: Vec<&str> = command.arguments().iter().skip(own.len() + 1).map(String::as_str).collect();
        let words: Vec<&str> = own.iter().copied().filter(|word| !word.starts_with('+')).collect();
        let (of_cargo, mut filters) = options_and_words(&words, &WITH_VALUE);
        if let Some(option) = of_cargo.iter().map(|option| name_of(option)).find(|name| UNUSABLE.contains(name)) {
            let (command, option) = (command.to_string(), option.to_owned());
            return Err(NotCargoTest::UnusableOption { command, option });
        }
        // The first word is the subcommand.
        filters.remove(0);
        let (mut options, more_filters) = options_and_words(&programs, &PROGRAM_WITH_VALUE);
        filters.extend(more_filters);
        let is_serial = options.iter().any(|option| option.join("=") == format!("{THREADS}=1"));
        options.retain(|option| name_of(option) != THREADS && !OUTPUT.contains(&name_of(option)));
        let skip = format!("{SKIP}=");
        let skipped = |option: &Vec<&str>| option.join("=").strip_prefix(&skip).map(str::to_owned);
        let chosen = Chosen {
            filters: filters.into_iter().map(str::to_owned).collect(),
            skipped: options.iter().filter_map(skipped).collect(),
            is_exact: options.iter().any(|option| option[0] == EXACT),
        };
        options.retain(|option| option[0] != EXACT && skipped(option).is_none());
        let is_selective = options.iter().any(|option| SELECTIVE.contains(&option[0]));
        own.extend(["--no-run", "--message-format=json"]);
        Ok(Self {
            build: CommandLine::new(command.program(), &own),
            arguments: options.into_iter().flatten().map(str::to_owned).collect(),
            is_selective,
            is_serial,
            chosen,
        })
    }
}

/// One line of cargo's JSON output.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    executable: Option<PathBuf>,
    #[serde(default)]
    manifest_path: Option<PathBuf>,
    #[serde(default)]
    profile: Option<Profile>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
    #[serde(default)]
    target: Option<Target>,
    #[serde(default)]
    message: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Diagnostic {
    rendered: Option<String>,
    level: String,
}

impl Built {
    /// Reads cargo's JSON output.
    pub(super) fn read(stdout: &str, target_directory: &Path) -> Self {
        let mut built = Self::default();
        for line in stdout.lines() {
            let Ok(message) = serde_json::from_str::<Message>(line) else { continue };
            match message.reason.as_str() {
                "compiler-message" => {
                    let error = message.message.filter(|message| message.level.starts_with("error"));
                    built.rendered.push_str(&error.and_then(|error| error.rendered).unwrap_or_default());
                }
                "compiler-artifact" => built.add(message, target_directory),
                _ => {}
            }
        }
        built
    }

    fn add(&mut self, message: Message, target_directory: &Path) {
        let is_ours = |path: &PathBuf| path.starts_with(target_directory);
        let is_test = message.profile.is_some_and(|profile| profile.test);
        if let Some(program) = message.executable.as_ref().filter(|program| !is_ours(program)) {
            self.outside.push(program.clone());
        }
        let package = message.manifest_path.as_deref().and_then(Path::parent).map(Path::to_owned);
        match (message.executable.filter(is_ours), package) {
            (Some(program), Some(package)) if is_test => self.tests.push((program, package)),
            (Some(program), _) => self.others.push(program),
            (None, _) => {
                let is_shared = |kind: &String| kind == "dylib" || kind == "cdylib";
                if message.target.is_some_and(|target| target.kind.iter().any(is_shared)) {
                    self.others.extend(message.filenames.into_iter().filter(is_ours));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_command_builds_and_its_programs_get_the_rest() {
        let of = |words: &[&str]| CargoTest::of(&CommandLine::new(words[0], &words[1..]));
        let plain = of(&["cargo", "+stable", "test", "--no-fail-fast", "--", "--include-ignored"]).unwrap();
        assert_eq!(plain.build.to_string(), "cargo +stable test --no-fail-fast --no-run --message-format=json");
        assert_eq!(plain.arguments, ["--include-ignored"]);
        assert_eq!(of(&["/opt/bin/cargo", "test"]).unwrap().arguments, [""; 0]);
        let some =
            of(&["cargo", "test", "-p", "halves", "contract", "--", "--skip", "slow", "prop_", "--ignored"]).unwrap();
        assert_eq!(some.arguments, ["--ignored"]);
        let valued =
            of(&["cargo", "test", "--lockfile-path", "Cargo.lock", "--", "--shuffle-seed", "7", "prop_"]).unwrap();
        assert_eq!(valued.chosen.filters, ["prop_"]);
        for (threads, is_serial) in
            [(&["--test-threads", "1"][..], true), (&["--test-threads=1"], true), (&["--test-threads", "4"], false)]
        {
            let command = of(&[&["cargo", "test", "--", "--ignored"], threads].concat()).unwrap();
            assert_eq!((command.is_serial, command.chosen.filters.len()), (is_serial, 0), "{threads:?}");
            assert_eq!(command.arguments, ["--ignored"]);
        }
        for other in [&["cargo", "nextest", "run"][..], &["cargo"], &["sh", "-c", "cargo test"], &["cargo", "--test"]] {
            let error = of(other).unwrap_err().to_string();
            assert!(error.contains("is not a `cargo test`") && error.contains("exitCode"), "{error}");
        }
    }

    /// Names in test programs are random, and each is run with `--exact`, so filters are not passed on to the programs.
    #[test]
    fn which_tests_run_is_for_no_program_to_say() {
        let all = ["prop_a", "prop_ab", "contract", "slow::prop_c"];
        for (words, chosen) in [
            (&["prop_"][..], &["prop_a", "prop_ab", "slow::prop_c"][..]),
            (&["prop_", "--skip", "slow"], &["prop_a", "prop_ab"]),
            (&["prop_", "contract", "--skip=slow", "--skip", "ab"], &["prop_a", "contract"]),
            (&["--exact", "prop_a", "prop_c"], &["prop_a"]),
            (&["--skip", "slow", "--skip", "prop_a", "--exact"], &["prop_ab", "contract", "slow::prop_c"]),
            (&["slow", "--skip", "slow"], &[]),
        ] {
            let command = [&["test", "--", "--ignored"], words].concat();
            let command = CargoTest::of(&CommandLine::new("cargo", &command)).unwrap();
            let found: Vec<_> = all.into_iter().filter(|name| command.chosen.has(name)).collect();
            assert_eq!(found, chosen, "{words:?}");
            assert_eq!(command.arguments, ["--ignored"]);
        }
    }

    /// The build sets these options, or it builds no test program with them.
    #[test]
    fn options_that_no_build_of_test_programs_can_have_are_refused() {
        for (words, option) in [
            (&["--target-dir", "x"][..], "--target-dir"),
            (&["--target-dir=x"], "--target-dir"),
            (&["--release", "--no-run"], "--no-run"),
            (&["--message-format", "short", "--", "prop_"], "--message-format"),
            (&["--message-format=short"], "--message-format"),
            (&["--doc"], "--doc"),
        ] {
            let command = CommandLine::new("cargo", &[&["test"], words].concat());
            let error = CargoTest::of(&command).unwrap_err().to_string();
            assert!(error.contains(&format!("`{command}` has the option `{option}`")), "{error}");
        }
        for words in [&["--target", "wasm32-wasip1"][..], &["--", "--no-run"]] {
            CargoTest::of(&CommandLine::new("cargo", &[&["test"], words].concat())).unwrap();
        }
    }

    /// Verdicts and the canaries' messages are read from the output as a program prints it by default.
    #[test]
    fn options_for_the_output_reach_no_program() {
        for words in [
            &["--nocapture"][..],
            &["--no-capture"],
            &["--show-output"],
            &["-q"],
            &["--quiet"],
            &["--format", "terse"],
            &["--format=terse"],
            &["--color", "always"],
            &["--color=always"],
            &["--logfile", "log"],
            &["--logfile=log"],
            &["--report-time"],
            &["--nocapture", "--format", "terse", "--color=always"],
        ] {
            let command = [&["test", "--"][..], words, &["prop_", "--include-ignored"][..]].concat();
            let command = CargoTest::of(&CommandLine::new("cargo", &command)).unwrap();
            assert_eq!(command.arguments, ["--include-ignored"], "{words:?}");
            assert_eq!(command.chosen.filters, ["prop_"], "{words:?}");
        }
    }

    #[test]
    fn options_that_leave_tests_out_are_known() {
        for (words, is_selective) in [
            (&["--ignored"][..], true),
            (&["-Z", "unstable-options", "--exclude-should-panic"], true),
            (&["--include-ignored"], false),
            (&["prop_", "--skip", "--ignored", "--exact"], false),
        ] {
            let command = [&["test", "--"], words].concat();
            let command = CargoTest::of(&CommandLine::new("cargo", &command)).unwrap();
            assert_eq!(command.is_selective, is_selective, "{words:?}");
        }
    }

    /// Lines that are not cargo's messages are ignored, and no program outside the target directory is run.
    #[test]
    fn programs_are_those_among_the_artefacts() {
        let line = |executable: &str, test: bool| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/c/Cargo.toml","target":{{"kind":["test"]}},"profile":{{"test":{test}}},"filenames":[],"executable":"{executable}"}}"#
            )
        };
        let text = [&line("/t/debug/deps/a-1", true), "nonsense", &line("/t/debug/b", false), &line("/tmp/evil", true)];
        let built = Built::read(&text.join("\n"), Path::new("/t"));
        assert_eq!(built.tests, [(PathBuf::from("/t/debug/deps/a-1"), PathBuf::from("/c"))]);
        assert_eq!(built.others, [PathBuf::from("/t/debug/b")]);
        assert_eq!(built.outside, [PathBuf::from("/tmp/evil")]);
    }
}
