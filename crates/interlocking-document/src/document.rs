//! A parsed text.

use crate::fields::Field;
use crate::node::Node;
use crate::problems::Problems;
#[cfg(any(feature = "json", feature = "toml", feature = "yaml"))]
use crate::source::Source;

/// A well-formed document, and the name of its file.
#[derive(Clone, Debug)]
pub struct Document {
    root: Node,
    /// The problems found by parsing: duplicate keys, and keys of YAML that are not texts.
    problems: Problems,
}

impl Document {
    /// Parses TOML. Dates are texts.
    ///
    /// # Errors
    ///
    /// Every syntax error; for a text that is too large or nested too deep, only that.
    #[cfg(feature = "toml")]
    pub fn toml(source: Source<'_>) -> Result<Self, Problems> {
        crate::toml::parse(&source).map(|root| Self { root, problems: Problems::of(source.file) })
    }

    /// Parses JSON.
    ///
    /// # Errors
    ///
    /// The first syntax error.
    #[cfg(feature = "json")]
    pub fn json(source: Source<'_>) -> Result<Self, Problems> {
        crate::json::parse(&source).map(|(root, problems)| Self { root, problems })
    }

    /// Parses YAML: one document, without anchors, aliases, tags and directives.
    ///
    /// # Errors
    ///
    /// The first syntax error.
    #[cfg(feature = "yaml")]
    pub fn yaml(source: Source<'_>) -> Result<Self, Problems> {
        crate::yaml::parse(&source).map(|(root, problems)| Self { root, problems })
    }

    /// The outermost value of the document.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// Reads the document. `read` adds a problem for everything that is wrong, and returns `None` only if it has added one.
    ///
    /// # Errors
    ///
    /// Every problem that `read` adds, every duplicate key, and every key of YAML that is not a text.
    ///
    /// # Panics
    ///
    /// If `read` returns `None` and there are no problems.
    pub fn read<T>(&self, read: impl FnOnce(Field<'_>, &mut Problems) -> Option<T>) -> Result<T, Problems> {
        let mut problems = self.problems.clone();
        match read(Field::of(&self.root), &mut problems) {
            Some(read) if problems.is_empty() => Ok(read),
            read => {
                assert!(read.is_some() || !problems.is_empty(), "a reader gave nothing and filed no problem");
                Err(problems.sorted())
            }
        }
    }
}
