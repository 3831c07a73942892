//! Deterministic hashes of numbers and texts.

/// A hash of numbers, the same on every platform.
pub(crate) fn mix(parts: &[u64]) -> u64 {
    let mut mixed = 0x9e37_79b9_7f4a_7c15_u64;
    for part in parts {
        mixed = (mixed ^ part).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^= mixed >> 29;
        mixed = mixed.wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 32;
    }
    mixed
}

/// A hash of a text.
pub(crate) fn mix_text(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
