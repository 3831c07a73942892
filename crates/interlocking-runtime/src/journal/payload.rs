//! The payloads of records: JSON text, or the digest under which a journal stores it.

use crate::journal::{Journal, JournalError};
use interlocking_core::run_id::RunId;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A payload as JSON text. Cheap to clone: the journal and the run share it.
pub type Encoded = Arc<str>;

/// A payload, by value or by digest. An executor gives payloads to a journal by value. The journal may return either form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedPayload {
    /// The JSON text.
    Json(Encoded),
    /// The payload's digest. The journal that returned it has the text (V3-143). Routing does not need the text (V3-145).
    Stored(Digest),
}

/// The SHA-256 of a payload's bytes: `sha256:` and 64 lower-case hexadecimal digits (V3-144).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

/// Why a text is not a [`Digest`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a payload's name: it is `sha256:` and 64 lower-case hexadecimal digits")]
pub struct InvalidDigest {
    /// The refused text.
    pub text: String,
}

/// The JSON text of a payload of `run`, which the error calls `what`.
pub(crate) async fn text_of(
    journal: &dyn Journal,
    run: &RunId,
    payload: &RecordedPayload,
    what: &str,
) -> Result<Encoded, JournalError> {
    match payload {
        RecordedPayload::Json(text) => Ok(text.clone()),
        RecordedPayload::Stored(digest) => {
            let missing = || JournalError::PayloadMissing {
                place: "the journal".to_owned(),
                digest: *digest,
                what: what.to_owned(),
            };
            journal.fetch(run, &[*digest]).await?.pop().ok_or_else(missing)
        }
    }
}

impl RecordedPayload {
    /// The JSON text, where the payload is here by value.
    pub fn json(&self) -> Option<&Encoded> {
        match self {
            Self::Json(text) => Some(text),
            Self::Stored(_) => None,
        }
    }

    /// Whether the payload is `null`, which in an optional slot stands for no value. The digest is enough to tell.
    pub fn is_null(&self) -> bool {
        match self {
            Self::Json(text) => &**text == "null",
            Self::Stored(digest) => *digest == Digest::OF_NULL,
        }
    }
}

impl From<Encoded> for RecordedPayload {
    fn from(text: Encoded) -> Self {
        Self::Json(text)
    }
}

impl From<&str> for RecordedPayload {
    fn from(text: &str) -> Self {
        Self::Json(text.into())
    }
}

impl Digest {
    const PREFIX: &str = "sha256:";
    /// The digest of `null`.
    const OF_NULL: Self = Self([
        0x74, 0x23, 0x4e, 0x98, 0xaf, 0xe7, 0x49, 0x8f, 0xb5, 0xda, 0xf1, 0xf3, 0x6a, 0xc2, 0xd7, 0x8a, 0xcc, 0x33,
        0x94, 0x64, 0xf9, 0x50, 0x70, 0x3b, 0x8c, 0x01, 0x98, 0x92, 0xf9, 0x82, 0xb9, 0x0b,
    ]);

    /// The digest with these bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The digest's bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        let refused = || InvalidDigest { text: text.to_owned() };
        let digits = text.strip_prefix(Self::PREFIX).ok_or_else(refused)?;
        let lower_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if digits.len() != 64 || !digits.bytes().all(lower_hex) {
            return Err(refused());
        }
        let mut bytes = [0; 32];
        for (byte, digits) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
            let pair = std::str::from_utf8(digits).map_err(|_| refused())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| refused())?;
        }
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for Digest {
    type Error = InvalidDigest;

    fn try_from(text: String) -> Result<Self, InvalidDigest> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_read_as_it_is_written() {
        let digest = Digest::from_bytes(std::array::from_fn(|index| index as u8 * 7));
        assert_eq!(digest.to_string().parse(), Ok(digest));
        let json = serde_json::to_string(&RecordedPayload::Stored(digest)).unwrap();
        assert_eq!(serde_json::from_str::<RecordedPayload>(&json).unwrap(), RecordedPayload::Stored(digest));
        for bad in ["", "sha256:", "sha256:00", &digest.to_string().to_uppercase(), &format!("{digest}0")] {
            assert!(bad.parse::<Digest>().is_err(), "{bad}");
        }
    }
}
