//! A text that was parsed.

use crate::fields::Field;
use crate::node::Node;
use crate::problems::Problems;
#[cfg(any(feature = "json", feature = "toml", feature = "yaml"))]
use crate::source::Source;

/// A document that is well-formed, and the name of its file.
#[derive(Clone, Debug)]
pub struct Document {
    root: Node,
    /// What is wrong without anything having been read: keys that are there twice.
    problems: Problems,
}

impl Document {
    /// Parses TOML. Dates are texts.
    ///
    /// # Errors
    ///
    /// Every mistake in its syntax; of a text that is too large or nested too deep that alone.
    #[cfg(feature = "toml")]
    pub fn toml(source: Source<'_>) -> Result<Self, Problems> {
        crate::toml::parse(&source).map(|root| Self { root, problems: Problems::of(source.file) })
    }

    /// Parses JSON.
    ///
    /// # Errors
    ///
    /// The first mistake in its syntax.
    #[cfg(feature = "json")]
    pub fn json(source: Source<'_>) -> Result<Self, Problems> {
        crate::json::parse(&source).map(|(root, problems)| Self { root, problems })
    }

    /// Parses YAML: one document, without anchors, aliases, tags and directives.
    ///
    /// # Errors
    ///
    /// The first mistake in its syntax.
    #[cfg(feature = "yaml")]
    pub fn yaml(source: Source<'_>) -> Result<Self, Problems> {
        crate::yaml::parse(&source).map(|(root, problems)| Self { root, problems })
    }

    /// What the document is.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// Reads the document. `read` files a problem for everything that is wrong, and gives nothing only then.
    ///
    /// # Errors
    ///
    /// Everything that `read` files, and every key that is there twice.
    ///
    /// # Panics
    ///
    /// If `read` gives nothing and files no problem.
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
