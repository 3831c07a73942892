//! The text that names an agent: `BACKEND` or `BACKEND:MODEL`.

use std::fmt;

/// A backend, and the text after the colon: a model, or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) backend: String,
    pub(super) rest: Option<String>,
}

impl Choice {
    /// Parses a choice; the error says what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (backend, rest) = match text.split_once(':') {
            Some((backend, rest)) => (backend, Some(rest)),
            None => (text, None),
        };
        if backend.is_empty() || rest.is_some_and(str::is_empty) {
            return Err(format!("{text:?} names no agent: write BACKEND or BACKEND:MODEL, such as \"claude:haiku\""));
        }
        Ok(Self { backend: backend.to_owned(), rest: rest.map(str::to_owned) })
    }
}

/// Parses `ROLE=BACKEND:MODEL`, or the same without a role. The file name of a script may contain a `=`.
pub(super) fn with_role(text: &str) -> Result<(Option<String>, Choice), String> {
    match text.split_once('=') {
        Some((role, choice)) if !role.contains(':') => {
            if role.is_empty() {
                return Err(format!(
                    "{text:?} names no role: write ROLE=BACKEND:MODEL, or BACKEND:MODEL for all roles"
                ));
            }
            Ok((Some(role.to_owned()), Choice::parse(choice)?))
        }
        _ => Ok((None, Choice::parse(text)?)),
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.backend)?;
        match &self.rest {
            Some(rest) => write!(f, ":{rest}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_a_backend_and_a_model_are_told_apart() {
        let read = |text| with_role(text).map(|(role, choice)| (role, choice.backend, choice.rest));
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(read("claude"), Ok((None, "claude".to_owned(), None)));
        assert_eq!(read("claude:haiku"), Ok((None, "claude".to_owned(), some("haiku"))));
        assert_eq!(read("critic=claude:haiku"), Ok((some("critic"), "claude".to_owned(), some("haiku"))));
        assert_eq!(read("scripted:a=b.toml"), Ok((None, "scripted".to_owned(), some("a=b.toml"))));
        assert_eq!(read("critic=local:llama3:8b"), Ok((some("critic"), "local".to_owned(), some("llama3:8b"))));
        for bad in ["", ":", "claude:", "=claude", "critic=", ":haiku"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
