//! The files that are searched, and how their comments begin.

use std::collections::BTreeMap;
use std::path::Path;

/// What begins a comment, and so a marker, in a kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comments {
    /// `//`
    Slashes,
    /// `#`
    Hash,
    /// Both.
    SlashesAndHash,
}

/// The extensions of the files that are searched: an allow-list. ASCII case is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extensions(BTreeMap<String, Comments>);

/// Why an extension cannot be listed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtensionError {
    /// The text does not have the form `EXTENSION=COMMENT`.
    #[error("{0:?} names no extension and comment: write such as `tf=#` or `v=//`")]
    Form(String),
    /// The extension is Markdown, whose text may be about markers.
    #[error("`{0}` is Markdown, which is never edited: it describes markers, but contains none")]
    Markdown(String),
}

const SLASHES: &[&str] = &[
    "rs", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte", "go", "java", "kt", "kts", "scala",
    "swift", "dart", "c", "h", "cc", "cpp", "cxx", "hh", "hpp", "cs", "zig",
];
const HASH: &[&str] = &["py", "pyi", "sh", "bash", "zsh", "fish", "rb", "pl", "pm", "ex", "exs", "jl", "ps1"];
const BOTH: &[&str] = &["php"];
const MARKDOWN: &[&str] = &["md", "mdx", "markdown", "mdown", "mkd"];

impl Extensions {
    /// Rust, JavaScript, TypeScript, Python, shell and other languages whose comments are `//` or `#`.
    pub fn usual() -> Self {
        let each = |extensions: &'static [&str], comments| extensions.iter().map(move |name| (*name, comments));
        let all = each(SLASHES, Comments::Slashes).chain(each(HASH, Comments::Hash));
        let all = all.chain(each(BOTH, Comments::SlashesAndHash));
        Self(all.map(|(extension, comments)| (extension.to_owned(), comments)).collect())
    }

    /// Adds an extension, or changes how comments begin in its files: `tf=#`.
    ///
    /// # Errors
    ///
    /// [`ExtensionError`] if the text does not have that form, or names Markdown.
    pub fn add(&mut self, text: &str) -> Result<(), ExtensionError> {
        let form = || ExtensionError::Form(text.to_owned());
        let (extension, comments) = text.split_once('=').ok_or_else(form)?;
        let extension = extension.strip_prefix('.').unwrap_or(extension).to_ascii_lowercase();
        let comments = match comments {
            "//" => Comments::Slashes,
            "#" => Comments::Hash,
            _ => return Err(form()),
        };
        let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '+');
        if extension.is_empty() || !extension.chars().all(is_name) {
            return Err(form());
        }
        if MARKDOWN.contains(&&*extension) {
            return Err(ExtensionError::Markdown(extension));
        }
        self.0.insert(extension, comments);
        Ok(())
    }

    /// How comments begin in a file; `None` if the file is not searched.
    pub fn of(&self, path: &Path) -> Option<Comments> {
        let extension = path.extension()?.to_str()?;
        self.0.get(extension).or_else(|| self.0.get(&extension.to_ascii_lowercase())).copied()
    }

    /// The extensions, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl Comments {
    /// Whether a line without surrounding blanks is a marker.
    pub(crate) fn mark(self, line: &[u8]) -> bool {
        let (slashes, hash) = (line == b"// [DEBUG-TEMP]", line == b"# [DEBUG-TEMP]");
        match self {
            Self::Slashes => slashes,
            Self::Hash => hash,
            Self::SlashesAndHash => slashes || hash,
        }
    }
}
