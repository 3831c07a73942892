//! A payload's name is its digest: the SHA-256 of its bytes (V3-144).

use interlocking_runtime::journal::Digest;
use sha2::{Digest as _, Sha256};

/// The digest of `text`.
pub(crate) fn digest_of(text: &str) -> Digest {
    Digest::from_bytes(Sha256::digest(text.as_bytes()).into())
}

/// The first six bytes of a digest, the key of the table `name`. Few digests share a head, and every read checks the whole
/// digest.
pub(crate) fn head_of(digest: &Digest) -> i64 {
    let [a, b, c, d, e, f, ..] = *digest.as_bytes();
    // An arithmetic shift, because SQLite's integers are signed: so every head is stored in six bytes.
    i64::from_be_bytes([a, b, c, d, e, f, 0, 0]) >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// V3-144: `sha256:` and the hex digest of the stored payload.
    #[test]
    fn a_payload_is_named_by_the_sha256_of_its_bytes() {
        let digest = digest_of("abc");
        let known = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), known);
        assert_eq!(head_of(&digest), -0x4587_e940_70ff);
    }
}
