//! The representation of a text in a cassette: line by line, so that it can be read, and compared in git.

use serde::de::Deserializer;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

/// A string if the text has one line, and otherwise a list of its lines. Nothing is lost: line ends other than `\n`
/// stay in the lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text(pub(super) String);

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.contains('\n') {
            serializer.collect_seq(self.0.split('\n'))
        } else {
            serializer.serialize_str(&self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a text: a string, or a list of its lines")]
        enum Spelled {
            Line(String),
            Lines(Vec<String>),
        }
        Ok(Self(match Spelled::deserialize(deserializer)? {
            Spelled::Line(line) => line,
            Spelled::Lines(lines) => lines.join("\n"),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back_as_it_was() {
        for (text, spelled) in
            [("", r#""""#), ("one", r#""one""#), ("one\n", r#"["one",""]"#), ("\n\r\ntwo", r#"["","\r","two"]"#)]
        {
            let text = Text(text.to_owned());
            assert_eq!(serde_json::to_string(&text).unwrap(), spelled);
            assert_eq!(serde_json::from_str::<Text>(spelled).unwrap(), text);
        }
        let error = serde_json::from_str::<Text>("7").unwrap_err();
        assert!(error.to_string().starts_with("a text: a string, or a list of its lines"), "{error}");
    }
}
