//! Reads a task from a file: TOML or JSON, every problem at once, each with its place.

mod commands;
mod error;
mod spelling;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use error::SpecError;
use spelling::spellings;

use crate::language::RUST_ANALYZER;
use crate::types::{CratePath, StackSpec, StrictnessConfig, is_identifier};
use interlocking::document::{Document, Field, Fields, Limits, Problems, Source, Value};
use interlocking::rust_source::defines_the_build;
use interlocking::toolchain::{Harness, Toolchain};
use serde::de::DeserializeOwned;

/// The contents of a specification file: the task, and how the project is built and tested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// What to build.
    pub spec: StackSpec,
    /// The commands: the file's `toolchain` table, by default cargo and proptest.
    pub toolchain: Toolchain,
    /// The language server that answers what the text of tests leaves open: rust-analyzer, or Pyright's `pyright-langserver`, as
    /// a path, or a name that is looked for in `PATH`; `none` for none.
    pub language_server: PathBuf,
    /// Whether an agent resolves conflicts of the merge. Otherwise they end the run.
    pub resolve_conflicts: bool,
    /// How long the run waits at its exit for the mutation adversary that works beside it. Later findings are an addendum in the
    /// run's journal, if the process goes on and the run's places are kept; otherwise they do not count.
    pub mutation_deadline: Duration,
    /// How many mutants of the program's own making are tried besides those that the adversary reports.
    pub mechanical_mutants: usize,
}

/// The format of a specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecFormat {
    /// TOML.
    Toml,
    /// JSON.
    Json,
}

/// How long the run waits for the mutation adversary if a task does not say.
const MUTATION_DEADLINE_SECONDS: u64 = 600;

/// How many mutants of the program's own making are tried if a task does not say.
const MECHANICAL_MUTANTS: usize = 8;

/// How many repairs a task may allow.
const FIX_ATTEMPTS: std::ops::RangeInclusive<i64> = 1..=10;

impl Task {
    /// Reads a `.toml` or `.json` file.
    pub fn read(path: &Path) -> Result<Self, SpecError> {
        let file = path.display().to_string();
        let format = match path.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => SpecFormat::Toml,
            Some("json") => SpecFormat::Json,
            _ => return Err(SpecError::UnknownFormat { file }),
        };
        match Limits::DEFAULT.read(path) {
            Ok(text) => Self::parse(&file, &text, format),
            Err(error) => Err(SpecError::Unreadable { file, reason: error.to_string() }),
        }
    }

    /// Parses a specification; messages refer to it by this name.
    pub fn parse(name: &str, text: &(impl AsRef<[u8]> + ?Sized), format: SpecFormat) -> Result<Self, SpecError> {
        let source = Source::new(name, text);
        let document = match format {
            SpecFormat::Toml => Document::toml(source),
            SpecFormat::Json => Document::json(source),
        };
        let task = document.and_then(|document| document.read(|root, problems| read_task(&root, problems)));
        task.map_err(|problems| SpecError::Bad { problems })
    }
}

/// The fields of a table in which the protocol's original names have this prefix.
fn fields_of<'d>(table: &Field<'d>, prefix: &'static str, problems: &mut Problems) -> Option<Fields<'d>> {
    Some(table.fields(problems)?.with_spellings(move |name| spellings(name, prefix)))
}

fn read_task(root: &Field<'_>, problems: &mut Problems) -> Option<Task> {
    let mut fields = fields_of(root, "spec", problems)?;
    let spec = read_spec(&mut fields, problems);
    let toolchain = match fields.take("toolchain") {
        None => Some((Toolchain::default(), PathBuf::from(RUST_ANALYZER))),
        Some(table) => fields_of(&table, "", problems).and_then(|fields| read_toolchain(fields, problems)),
    };
    let resolve_conflicts = fields.optional("resolveConflicts", true, problems);
    let deadline = fields.optional("mutationDeadlineSeconds", MUTATION_DEADLINE_SECONDS, problems);
    let mechanical_mutants = fields.optional("mechanicalMutants", MECHANICAL_MUTANTS, problems);
    fields.finish(problems);
    let (toolchain, language_server) = toolchain?;
    Some(Task {
        spec: spec?,
        toolchain,
        language_server,
        resolve_conflicts: resolve_conflicts?,
        mutation_deadline: Duration::from_secs(deadline?),
        mechanical_mutants: mechanical_mutants?,
    })
}

fn read_spec(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<StackSpec> {
    let module_name = fields.required::<String>("moduleName", problems);
    if module_name.as_ref().is_some_and(|name| !name.split("::").all(is_identifier)) {
        let message = "not a module's name; use Rust identifiers joined by `::`, such as `bounded_stack`";
        fields.refuse("moduleName", message, problems);
    }
    let description = fields.required::<String>("description", problems);
    if description.as_ref().is_some_and(|text| text.trim().is_empty()) {
        fields.refuse("description", "empty; say what the module is for", problems);
    }
    let acceptance_criteria = fields.required::<Vec<String>>("acceptanceCriteria", problems);
    if let Some(criteria) = &acceptance_criteria
        && (criteria.is_empty() || criteria.iter().any(|text| text.trim().is_empty()))
    {
        let message = "give at least one criterion, and none that is blank";
        fields.refuse("acceptanceCriteria", message, problems);
    }
    let impl_path = fields.required::<CratePath>("implPath", problems);
    let test_path = fields.required::<CratePath>("testPath", problems);
    if let (Some(implementation), Some(tests)) = (&impl_path, &test_path)
        && implementation == tests
    {
        let message = "the same file as `implPath`; tests and implementation are written by agents that must not \
                       see each other's file";
        fields.refuse("testPath", message, problems);
    }
    for (name, path) in [("implPath", &impl_path), ("testPath", &test_path)] {
        if path.as_ref().is_some_and(|path| defines_the_build(path.as_str())) {
            let message = "a file that defines the build; agents may not write it";
            fields.refuse(name, message, problems);
        }
    }
    let shared_paths = fields.optional::<Vec<CratePath>>("sharedPaths", Vec::new(), problems);
    if shared_paths.as_ref().is_some_and(|paths| paths.iter().any(crate::paths::is_code)) {
        let message = "code, or a file that decides how it is built or tested; both sides may write to documents and \
                       data alone";
        fields.refuse("sharedPaths", message, problems);
    }
    let strictness = match fields.take("strictness") {
        None => Some(StrictnessConfig::default()),
        Some(field) => match &field.node().value {
            Value::Table(_) => fields_of(&field, "sc", problems).and_then(|fields| read_strictness(fields, problems)),
            Value::Text(preset) if preset.content == "default" => Some(StrictnessConfig::default()),
            Value::Text(preset) if preset.content == "strict" => Some(StrictnessConfig::strict()),
            _ => {
                field.expected("a table or a preset, \"default\" or \"strict\"", problems);
                None
            }
        },
    };
    Some(StackSpec {
        module_name: module_name?,
        description: description?,
        acceptance_criteria: acceptance_criteria?,
        impl_path: impl_path?,
        test_path: test_path?,
        shared_paths: shared_paths?,
        strictness: strictness?,
    })
}

fn read_strictness(mut fields: Fields<'_>, problems: &mut Problems) -> Option<StrictnessConfig> {
    let default = StrictnessConfig::default();
    let mutation_blocking = fields.optional("mutationBlocking", default.mutation_blocking, problems);
    let require_coverage = fields.optional("requireCoverage", default.require_coverage, problems);
    let attempts = fields.optional::<i64>("maxFixAttempts", default.max_fix_attempts.into(), problems);
    if attempts.is_some_and(|attempts| !FIX_ATTEMPTS.contains(&attempts)) {
        let (least, most) = (FIX_ATTEMPTS.start(), FIX_ATTEMPTS.end());
        fields.refuse("maxFixAttempts", format!("out of range; use {least} to {most}"), problems);
    }
    fields.finish(problems);
    Some(StrictnessConfig {
        mutation_blocking: mutation_blocking?,
        max_fix_attempts: u8::try_from(attempts?).ok()?,
        require_coverage: require_coverage?,
    })
}

fn read_toolchain(mut fields: Fields<'_>, problems: &mut Problems) -> Option<(Toolchain, PathBuf)> {
    let (mut toolchain, mut language_server) = (Toolchain::default(), PathBuf::from(RUST_ANALYZER));
    let harness = read_into(&mut toolchain.harness, "harness", &mut fields, problems);
    let read = [
        harness,
        read_into(&mut toolchain.build_command, "buildCommand", &mut fields, problems),
        read_into(&mut toolchain.test_command, "testCommand", &mut fields, problems),
        read_into(&mut toolchain.build_timeout_seconds, "buildTimeoutSeconds", &mut fields, problems),
        read_into(&mut toolchain.test_timeout_seconds, "testTimeoutSeconds", &mut fields, problems),
        read_into(&mut toolchain.one_test_timeout_seconds, "oneTestTimeoutSeconds", &mut fields, problems),
        read_into(&mut toolchain.source.stub_markers, "stubMarkers", &mut fields, problems),
        read_into(&mut toolchain.source.property_prefix, "propertyPrefix", &mut fields, problems),
        read_into(&mut toolchain.source.allow, "allow", &mut fields, problems),
        read_into(&mut toolchain.pass_environment, "passEnvironment", &mut fields, problems),
        read_into(&mut toolchain.readable_paths, "readablePaths", &mut fields, problems),
        read_into(&mut toolchain.allow_network, "allowNetwork", &mut fields, problems),
        read_into(&mut language_server, "languageServer", &mut fields, problems),
    ];
    if harness.is_none() {
        // Which test command fits is not known.
        toolchain.harness = Harness::ExitCode;
    }
    refuse_mistakes(&toolchain, &fields, problems);
    let commands = commands::read_commands(&mut fields, problems);
    fields.finish(problems);
    read.into_iter().collect::<Option<()>>()?;
    Some((Toolchain { commands: commands?, ..toolchain }, language_server))
}

/// Reads a field, if it is there; `None` if it is wrong.
fn read_into<T: DeserializeOwned>(
    value: &mut T,
    name: &'static str,
    fields: &mut Fields<'_>,
    problems: &mut Problems,
) -> Option<()> {
    if let Some(field) = fields.take(name) {
        *value = field.read(problems)?;
    }
    Some(())
}

/// Refuses the values of a toolchain that cannot be used, each at its field.
fn refuse_mistakes(toolchain: &Toolchain, fields: &Fields<'_>, problems: &mut Problems) {
    for mistake in toolchain.check().err().into_iter().flat_map(|error| error.mistakes) {
        let name = mistake.field.rsplit('.').next().unwrap_or_default();
        fields.refuse(name, mistake.message, problems);
    }
}
