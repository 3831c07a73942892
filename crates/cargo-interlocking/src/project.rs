//! A project, written.

use crate::name::Name;
use crate::shape::Shape;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where a project has Interlocking from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// crates.io, in this program's version.
    Registry,
    /// A checkout of the repository.
    Checkout(PathBuf),
}

/// Why there is no project.
#[derive(Debug)]
pub enum NewProjectError {
    /// There is something of its name already.
    Taken(PathBuf),
    /// No crate `interlocking` is in `crates/interlocking` of the checkout.
    NoCheckout(PathBuf),
    /// A manifest is UTF-8, and the path of the checkout is not.
    NotUtf8(PathBuf),
    /// A file cannot be written. What was written before it stays.
    Write(PathBuf, io::Error),
}

/// In the files that are embedded: the package's name, the same in Rust, and where Interlocking is from.
const PACKAGE: &str = "project-name";
const IN_RUST: &str = "project_name";
const REGISTRY: &str = "interlocking = { version = \"0.1\"";

/// Writes the project `name` of that shape, in a directory of its name that is made in `parent`. Gives the directory.
///
/// # Errors
///
/// [`NewProjectError`]; nothing was written unless it is [`Write`](NewProjectError::Write).
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

/// The manifest of the workspace that a project's directory lies in, if one is above it. Cargo builds the project only where the
/// workspace's `members` or `exclude` have it.
pub fn workspace_around(project: &Path) -> Option<PathBuf> {
    let begins_workspace = |line: &str| line.starts_with("[workspace]") || line.starts_with("[workspace.");
    let manifests = project.canonicalize().ok()?;
    let mut manifests = manifests.ancestors().skip(1).map(|above| above.join("Cargo.toml"));
    manifests.find(|manifest| fs::read_to_string(manifest).is_ok_and(|text| text.lines().any(begins_workspace)))
}

/// An embedded file's text with the project's name in it, which may itself contain what stands for names there.
fn named(text: &str, name: &Name) -> String {
    let in_rust = name.in_rust();
    let parts: Vec<String> = text.split(PACKAGE).map(|part| part.replace(IN_RUST, &in_rust)).collect();
    parts.join(name.as_str())
}

/// The facade's directory, as a string of TOML.
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
