//! Splits a large payload into a manifest and parts, so that one section can be read without the others (V3-148, CON-39).
//!
//! An object is split by its fields and an array by its elements. Each part is JSON text, and a payload with its own digest.
//! Small neighbours share a part: an object with some of the fields, or an array with some of the elements.

use crate::payloads::digest::digest_of;
use interlocking_runtime::journal::{Digest, Encoded};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize as DeriveDeserialize, Serialize};
use serde_json::value::RawValue;
use std::fmt;

/// From this many bytes on, a payload is stored in parts.
pub(crate) const LARGE: usize = 1 << 20;
/// From this many bytes on, a value is a part of its own, and a group of smaller values is complete.
const PART: usize = 64 << 10;

/// One part of a large payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, DeriveDeserialize)]
pub struct Part {
    /// Which section of the payload this part contains.
    #[serde(flatten)]
    pub holds: Holds,
    /// The part's digest, for [`Journal::fetch`](interlocking_runtime::Journal::fetch).
    pub sha256: Digest,
    /// The length of the part's JSON text, in bytes.
    pub bytes: u64,
}

/// Which section of its payload a [`Part`] contains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, DeriveDeserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// The value of this field.
    Field(String),
    /// An object with these fields.
    Fields(Vec<String>),
    /// The element at this index, counted from 0.
    Element(u64),
    /// An array of consecutive elements.
    Elements {
        /// The index of the first element, counted from 0.
        first: u64,
        /// The number of elements.
        count: u64,
    },
}

/// Describes how a payload is put together from its parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, DeriveDeserialize)]
pub(crate) struct Manifest {
    pub(crate) parts: Vec<Joint>,
    /// The text after the last part.
    after: String,
}

/// A part, and the text between it and the previous part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, DeriveDeserialize)]
pub(crate) struct Joint {
    /// The text before the part.
    before: String,
    #[serde(flatten)]
    pub(crate) part: Part,
}

/// A part's text. `key` identifies the section of the payload: the next version of the section is stored as a delta against this.
#[derive(Clone, Debug)]
pub(crate) struct PartText {
    pub(crate) key: String,
    pub(crate) digest: Digest,
    pub(crate) text: Encoded,
}

impl Holds {
    /// Whether the part has braces or brackets around it that are not in the payload.
    fn is_wrapped(&self) -> bool {
        matches!(self, Self::Fields(_) | Self::Elements { .. })
    }

    /// Identifies the section among the parts of a payload.
    fn key(&self) -> String {
        match self {
            Self::Field(name) => format!("field {name}"),
            Self::Fields(names) => format!("fields {}", names.first().map_or("", String::as_str)),
            Self::Element(index) => format!("element {index}"),
            Self::Elements { first, .. } => format!("elements {first}"),
        }
    }
}

/// Splits a large payload. `None` where the payload is small, or has neither fields nor elements.
pub(crate) fn split(text: &str) -> Option<(Manifest, Vec<PartText>)> {
    if text.len() < LARGE {
        return None;
    }
    let pieces: Pieces<'_> = serde_json::from_str(text).ok()?;
    let offset = |value: &RawValue| value.get().as_ptr() as usize - text.as_ptr() as usize;
    let mut cut = Cut {
        text,
        cursor: 0,
        group: None,
        manifest: Manifest { parts: Vec::new(), after: String::new() },
        texts: Vec::new(),
    };
    let mut before = 0;
    for (index, (name, value)) in (0u64..).zip(pieces.0) {
        let (start, end) = (offset(value), offset(value) + value.get().len());
        if end - start >= PART {
            cut.close();
            let holds = name.map_or(Holds::Element(index), Holds::Field);
            cut.part(start, end, holds);
        } else {
            // A field starts with the quote of its name: there is no other quote between two values.
            let start = if name.is_some() { before + text[before..start].find('"')? } else { start };
            cut.add(start, end, index, name);
        }
        before = end;
    }
    cut.close();
    let Cut { cursor, mut manifest, texts, .. } = cut;
    manifest.after = text[cursor..].to_owned();
    (!texts.is_empty()).then_some((manifest, texts))
}

/// A payload that is being split.
struct Cut<'text> {
    text: &'text str,
    /// The end of the last part.
    cursor: usize,
    /// The current group of small neighbours: its start, its end and its section.
    group: Option<(usize, usize, Holds)>,
    manifest: Manifest,
    texts: Vec<PartText>,
}

impl Cut<'_> {
    /// Adds a small value to the current group.
    fn add(&mut self, start: usize, end: usize, index: u64, name: Option<String>) {
        let holds = match name {
            Some(_) => Holds::Fields(Vec::new()),
            None => Holds::Elements { first: index, count: 0 },
        };
        let (start, last, holds) = self.group.get_or_insert((start, end, holds));
        *last = end;
        match (holds, name) {
            (Holds::Fields(names), Some(name)) => names.push(name),
            (Holds::Elements { count, .. }, _) => *count += 1,
            _ => {}
        }
        if end - *start >= PART {
            self.close();
        }
    }

    /// Makes a part of the current group, if there is one.
    fn close(&mut self) {
        if let Some((start, end, holds)) = self.group.take() {
            self.part(start, end, holds);
        }
    }

    fn part(&mut self, start: usize, end: usize, holds: Holds) {
        let before = self.text[self.cursor..start].to_owned();
        let value = &self.text[start..end];
        let text: Encoded = match holds {
            Holds::Fields(_) => format!("{{{value}}}").into(),
            Holds::Elements { .. } => format!("[{value}]").into(),
            Holds::Field(_) | Holds::Element(_) => value.into(),
        };
        let digest = digest_of(&text);
        self.texts.push(PartText { key: holds.key(), digest, text: text.clone() });
        self.manifest.parts.push(Joint { before, part: Part { holds, sha256: digest, bytes: text.len() as u64 } });
        self.cursor = end;
    }
}

impl Manifest {
    /// The payload, given the texts of its parts. `None` where a text is missing or too short, or the payload would be longer
    /// than `most` bytes, as a damaged manifest may repeat a part any number of times.
    pub(crate) fn join(&self, most: usize, mut text: impl FnMut(&Digest) -> Option<Encoded>) -> Option<String> {
        let mut whole = String::new();
        for Joint { before, part } in &self.parts {
            whole.push_str(before);
            let text = text(&part.sha256)?;
            let wrapped = usize::from(part.holds.is_wrapped());
            whole.push_str(text.get(wrapped..text.len().checked_sub(wrapped)?)?);
            if whole.len() > most {
                return None;
            }
        }
        whole.push_str(&self.after);
        (whole.len() <= most).then_some(whole)
    }
}

/// The fields of an object or the elements of an array, as slices of the text.
struct Pieces<'text>(Vec<(Option<String>, &'text RawValue)>);

impl<'de> Deserialize<'de> for Pieces<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Pieces<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object or an array")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pieces = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    pieces.push((Some(name), value));
                }
                Ok(Pieces(pieces))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
                let mut pieces = Vec::new();
                while let Some(value) = sequence.next_element::<&RawValue>()? {
                    pieces.push((None, value));
                }
                Ok(Pieces(pieces))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn joined(text: &str) -> Option<String> {
        let (manifest, texts) = split(text)?;
        for part in &texts {
            serde_json::from_str::<serde_json::Value>(&part.text).unwrap();
        }
        let json = serde_json::to_string(&manifest).unwrap();
        let manifest: Manifest = serde_json::from_str(&json).unwrap();
        manifest
            .join(text.len(), |digest| texts.iter().find(|part| part.digest == *digest).map(|part| part.text.clone()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// V3-148, V3-149: each part is JSON, and together they give the payload with its whitespace.
        #[test]
        fn parts_make_the_payload_again(sizes in proptest::collection::vec(0usize..200_000, 1..40), space in " {0,2}", array: bool) {
            let values: Vec<_> = sizes.iter().enumerate().map(|(index, size)| {
                let value = format!("\"\\\"{{[{}\"", "é".repeat(size / 2));
                if array { value } else { format!("{space}\"key \\\" {index}\"{space}:{space}{value}") }
            }).collect();
            let inner = values.join(&format!("{space},"));
            let text = if array { format!("{space}[{inner}{space}]{space}") } else { format!("{space}{{{inner}{space}}}{space}") };
            match joined(&text) {
                Some(joined) => prop_assert!(joined == text),
                None => prop_assert!(text.len() < LARGE),
            }
        }
    }

    /// No journal writes such a manifest.
    #[test]
    fn a_manifest_that_has_a_part_over_and_over_is_no_payload() {
        let (mut manifest, texts) = split(&format!(r#"{{"a":"{}"}}"#, "x".repeat(LARGE))).unwrap();
        manifest.parts = vec![manifest.parts[0].clone(); 100];
        let part = |_: &Digest| Some(texts[0].text.clone());
        assert!(manifest.join(4 * LARGE, part).is_none());
        let whole = manifest.join(101 * LARGE, part).unwrap();
        assert!(manifest.join(whole.len(), part).is_some());
        assert!(manifest.join(whole.len() - 1, part).is_none());
    }

    #[test]
    fn small_neighbours_share_a_part_and_large_values_have_their_own() {
        let report = format!(r#"{{"a":1,"b":2,"sections":"{}","z":[]}}"#, "x".repeat(LARGE));
        let (manifest, _) = split(&report).unwrap();
        let holds: Vec<_> = manifest.parts.iter().map(|joint| joint.part.holds.clone()).collect();
        let fields = |names: &[&str]| Holds::Fields(names.iter().map(|&name| name.to_owned()).collect());
        assert_eq!(holds, [fields(&["a", "b"]), Holds::Field("sections".to_owned()), fields(&["z"])]);
        assert!(split(&format!("\"{}\"", "x".repeat(LARGE))).is_none(), "a text has no parts");
    }
}
