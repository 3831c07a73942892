//! Reading a task from a file: TOML or JSON, every problem at once, each with its place.

mod document;
mod fields;
mod problem;

#[cfg(test)]
mod tests;

use std::path::Path;

use serde_json::Value;

use document::Document;
use fields::Fields;
use problem::Found;
pub use problem::{SpecError, SpecProblem};

use crate::types::{CratePath, StackSpec, StrictnessConfig, is_identifier};
use interlocking::rust_source::StubMarkers;
use interlocking::toolchain::Toolchain;

/// What a specification file holds: the task, and how the project is built and tested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// What to build.
    pub spec: StackSpec,
    /// With which commands: the file's `toolchain` table, cargo and proptest where it says nothing.
    pub toolchain: Toolchain,
}

/// How a specification is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecFormat {
    /// TOML.
    Toml,
    /// JSON.
    Json,
}

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
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&file, &text, format),
            Err(error) => Err(SpecError::Unreadable { file, reason: error.to_string() }),
        }
    }

    /// Parses a specification; the name stands for it in messages.
    pub fn parse(name: &str, text: &str, format: SpecFormat) -> Result<Self, SpecError> {
        let mut found = Vec::new();
        let document = match format {
            SpecFormat::Toml => Document::toml(text),
            SpecFormat::Json => Document::json(text),
        };
        let task = match document {
            Ok(document) => read_task(&document, &mut found),
            Err(problems) => {
                found = problems;
                None
            }
        };
        match task {
            Some(task) if found.is_empty() => Ok(task),
            _ => {
                // What is missing has no place and comes last.
                found.sort_by_key(|problem| problem.offset.unwrap_or(usize::MAX));
                Err(SpecError::Bad { problems: found.into_iter().map(|one| one.locate(name, text)).collect() })
            }
        }
    }
}

fn read_task(document: &Document, found: &mut Vec<Found>) -> Option<Task> {
    let mut fields = Fields::root(document, "spec");
    let spec = read_spec(&mut fields, found);
    let toolchain = match fields.take("toolchain") {
        None => Some(Toolchain::default()),
        Some((key, Value::Object(table))) => read_toolchain(fields.inner(&key, table, ""), found),
        Some((key, _)) => {
            fields.refuse(&key, "not a table; write `[toolchain]` and its fields below".to_owned(), found);
            None
        }
    };
    fields.finish(found);
    Some(Task { spec: spec?, toolchain: toolchain? })
}

fn read_spec(fields: &mut Fields<'_>, found: &mut Vec<Found>) -> Option<StackSpec> {
    let module_name = fields.required::<String>("moduleName", found);
    if module_name.as_ref().is_some_and(|name| !name.split("::").all(is_identifier)) {
        let message = "not a module's name; use Rust identifiers joined by `::`, such as `bounded_stack`";
        fields.refuse("moduleName", message.to_owned(), found);
    }
    let description = fields.required::<String>("description", found);
    if description.as_ref().is_some_and(|text| text.trim().is_empty()) {
        fields.refuse("description", "empty; say what the module is for".to_owned(), found);
    }
    let acceptance_criteria = fields.required::<Vec<String>>("acceptanceCriteria", found);
    if let Some(criteria) = &acceptance_criteria
        && (criteria.is_empty() || criteria.iter().any(|text| text.trim().is_empty()))
    {
        let message = "give at least one criterion, and none that is blank";
        fields.refuse("acceptanceCriteria", message.to_owned(), found);
    }
    let impl_path = fields.required::<CratePath>("implPath", found);
    let test_path = fields.required::<CratePath>("testPath", found);
    if let (Some(implementation), Some(tests)) = (&impl_path, &test_path)
        && implementation == tests
    {
        let message = "the same file as `implPath`; tests and implementation are written by agents that must not \
                       see each other's file";
        fields.refuse("testPath", message.to_owned(), found);
    }
    for (name, path) in [("implPath", &impl_path), ("testPath", &test_path)] {
        if path.as_ref().is_some_and(crate::paths::defines_the_build) {
            let message = "a file that defines the build; agents may not write it";
            fields.refuse(name, message.to_owned(), found);
        }
    }
    let strictness = match fields.take("strictness") {
        None => Some(StrictnessConfig::default()),
        Some((_, Value::String(preset))) if preset == "default" => Some(StrictnessConfig::default()),
        Some((_, Value::String(preset))) if preset == "strict" => Some(StrictnessConfig::strict()),
        Some((key, Value::Object(table))) => read_strictness(fields.inner(&key, table, "sc"), found),
        Some((key, _)) => {
            fields.refuse(
                &key,
                "neither a table nor a preset; the presets are \"default\" and \"strict\"".to_owned(),
                found,
            );
            None
        }
    };
    Some(StackSpec {
        module_name: module_name?,
        description: description?,
        acceptance_criteria: acceptance_criteria?,
        impl_path: impl_path?,
        test_path: test_path?,
        strictness: strictness?,
    })
}

fn read_strictness(mut fields: Fields<'_>, found: &mut Vec<Found>) -> Option<StrictnessConfig> {
    let default = StrictnessConfig::default();
    let mutation_blocking = fields.optional("mutationBlocking", default.mutation_blocking, found);
    let require_coverage = fields.optional("requireCoverage", default.require_coverage, found);
    let attempts = fields.optional::<i64>("maxFixAttempts", default.max_fix_attempts.into(), found);
    if attempts.is_some_and(|attempts| !FIX_ATTEMPTS.contains(&attempts)) {
        let (least, most) = (FIX_ATTEMPTS.start(), FIX_ATTEMPTS.end());
        fields.refuse("maxFixAttempts", format!("out of range; use {least} to {most}"), found);
    }
    fields.finish(found);
    Some(StrictnessConfig {
        mutation_blocking: mutation_blocking?,
        max_fix_attempts: u8::try_from(attempts?).ok()?,
        require_coverage: require_coverage?,
    })
}

fn read_toolchain(mut fields: Fields<'_>, found: &mut Vec<Found>) -> Option<Toolchain> {
    let default = Toolchain::default();
    let build_command = fields.optional("buildCommand", default.build_command, found);
    let test_command = fields.optional("testCommand", default.test_command, found);
    let build_timeout_seconds = fields.optional("buildTimeoutSeconds", default.build_timeout_seconds, found);
    let test_timeout_seconds = fields.optional("testTimeoutSeconds", default.test_timeout_seconds, found);
    let one_test_timeout_seconds = fields.optional("oneTestTimeoutSeconds", default.one_test_timeout_seconds, found);
    for (name, seconds) in [
        ("buildTimeoutSeconds", build_timeout_seconds),
        ("testTimeoutSeconds", test_timeout_seconds),
        ("oneTestTimeoutSeconds", one_test_timeout_seconds),
    ] {
        if seconds == Some(0) {
            fields.refuse(name, "nothing finishes in no time; use at least 1".to_owned(), found);
        }
    }
    let harness = fields.optional("harness", default.harness, found);
    let stub_markers = fields.optional("stubMarkers", default.stub_markers, found);
    if let Some(markers) = &stub_markers
        && let Err(error) = StubMarkers::parse(markers.iter().map(String::as_str))
    {
        fields.refuse("stubMarkers", error.to_string(), found);
    }
    let property_prefix = fields.optional("propertyPrefix", default.property_prefix, found);
    if property_prefix.as_ref().is_some_and(|prefix| !is_identifier(prefix)) {
        fields.refuse(
            "propertyPrefix",
            "not the beginning of a function's name; use one such as `prop_`".to_owned(),
            found,
        );
    }
    let pass_environment = fields.optional("passEnvironment", default.pass_environment, found);
    let readable_paths = fields.optional("readablePaths", default.readable_paths, found);
    if readable_paths.as_ref().is_some_and(|paths| paths.iter().any(|path| !path.is_absolute())) {
        fields.refuse(
            "readablePaths",
            "not absolute; write each from the root, such as `/opt/tools`".to_owned(),
            found,
        );
    }
    let allow_network = fields.optional("allowNetwork", default.allow_network, found);
    let allow = fields.optional("allow", default.allow, found);
    if let (Some(test_command), Some(harness)) = (&test_command, harness.clone())
        && let Err(error) = (Toolchain { test_command: test_command.clone(), harness, ..Toolchain::default() }).check()
    {
        fields.refuse("testCommand", error.to_string(), found);
    }
    fields.finish(found);
    Some(Toolchain {
        build_command: build_command?,
        test_command: test_command?,
        build_timeout_seconds: build_timeout_seconds?,
        test_timeout_seconds: test_timeout_seconds?,
        harness: harness?,
        stub_markers: stub_markers?,
        property_prefix: property_prefix?,
        pass_environment: pass_environment?,
        one_test_timeout_seconds: one_test_timeout_seconds?,
        readable_paths: readable_paths?,
        allow_network: allow_network?,
        allow: allow?,
        commands: default.commands,
    })
}
