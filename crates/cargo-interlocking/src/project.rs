//! Writes a project.

use crate::name::Name;
use crate::shape::Shape;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The source of a project's dependency on Interlocking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// crates.io, in this program's version.
    Registry,
    /// A checkout of the repository.
    Checkout(PathBuf),
}

/// Why a project was not written.
#[derive(Debug)]
pub enum NewProjectError {
    /// The path exists already.
    Taken(PathBuf),
    /// The checkout has no crate in `crates/interlocking`.
    NoCheckout(PathBuf),
    /// The path of the checkout is not UTF-8, as a manifest must be.
    NotUtf8(PathBuf),
    /// A file cannot be written. Files that were written before are kept.
    Write(PathBuf, io::Error),
}

/// The placeholders in the embedded files: the package's name, its form in Rust, and the dependency on Interlocking.
const PACKAGE: &str = "project-name";
const IN_RUST: &str = "project_name";
const REGISTRY: &str = "interlocking = { version = \"0.1\"";

/// Writes a project to a new directory `name` in `parent`, and returns the directory.
///
/// # Errors
///
/// [`NewProjectError`]. Nothing was written unless the error is [`Write`](NewProjectError::Write).
pub fn write(parent: &Path, name: &Name, shape: Shape, source: &Source) -> Result<PathBuf, NewProjectError> {
    let dependency = match source {
        Source::Registry => REGISTRY.to_owned(),
        Source::Checkout(checkout) => format!("interlocking = {{ path = {}", path_of_crate(checkout)?),
    };
    let place = parent.join(name.as_str());
    match fs::create_dir(&place) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(NewProjectError::Taken(place)),
        Err(error) => return Err(NewProjectError::Write(place, error)),
    }
    write_file(&place, "Cargo.toml", &named(shape.manifest(), name).replace(REGISTRY, &dependency))?;
    write_file(&place, ".gitignore", include_str!("../templates/common/gitignore"))?;
    for (path, text) in shape.files() {
        write_file(&place, path, &named(text, name))?;
    }
    Ok(place)
}

/// The manifest of the workspace above a project's directory, if there is one. Cargo builds the project only if the workspace's
/// `members` or `exclude` contains it.
pub fn workspace_around(project: &Path) -> Option<PathBuf> {
    let begins_workspace = |line: &str| line.starts_with("[workspace]") || line.starts_with("[workspace.");
    let manifests = project.canonicalize().ok()?;
    let mut manifests = manifests.ancestors().skip(1).map(|above| above.join("Cargo.toml"));
    manifests.find(|manifest| fs::read_to_string(manifest).is_ok_and(|text| text.lines().any(begins_workspace)))
}

/// An embedded file's text with the placeholders replaced by the project's name. The name itself may contain a placeholder.
fn named(text: &str, name: &Name) -> String {
    let in_rust = name.in_rust();
    let parts: Vec<String> = text.split(PACKAGE).map(|part| part.replace(IN_RUST, &in_rust)).collect();
    parts.join(name.as_str())
}

/// The directory of the crate `interlocking`, as a TOML string.
fn path_of_crate(checkout: &Path) -> Result<String, NewProjectError> {
    let path = checkout.join("crates/interlocking");
    let path = path.canonicalize().ok().filter(|path| path.join("Cargo.toml").is_file());
    let path = path.ok_or_else(|| NewProjectError::NoCheckout(checkout.to_owned()))?;
    let text = path.to_str().ok_or_else(|| NewProjectError::NotUtf8(path.clone()))?;
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

fn write_file(place: &Path, path: &str, text: &str) -> Result<(), NewProjectError> {
    let file = place.join(path);
    let written = file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&file, text));
    written.map_err(|error| NewProjectError::Write(file, error))
}

impl fmt::Display for NewProjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken(place) => write!(f, "{} is there already: choose another name, or remove it", place.display()),
            Self::NoCheckout(checkout) => write!(
                f,
                "{} is no checkout of Interlocking: there is no crates/interlocking/Cargo.toml in it",
                checkout.display()
            ),
            Self::NotUtf8(path) => write!(f, "{} cannot stand in a manifest: it is not UTF-8", path.display()),
            Self::Write(path, error) => write!(f, "{} cannot be written: {error}", path.display()),
        }
    }
}

impl std::error::Error for NewProjectError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Write(_, error) => Some(error),
            _ => None,
        }
    }
}
