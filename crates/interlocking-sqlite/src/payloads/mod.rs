//! Content-addressed payloads: each is stored once, most as a delta against an earlier one (V3-143 to V3-149).
//!
//! - [`digest`]: a payload's name.
//! - [`splice`]: a delta, that is pieces of another payload and new bytes; [`chain`]: rebuilds a payload from its deltas.
//! - [`packed`]: an object's bytes, compressed where that is shorter.
//! - [`objects`]: writes payloads to the tables `object` and `name`; [`stored`]: reads them.
//! - [`parts`]: a large payload as a manifest and parts that can be read separately.

pub(crate) mod digest;
pub(crate) mod splice;
pub(crate) mod chain;
pub(crate) mod packed;
pub(crate) mod objects;
pub(crate) mod stored;
pub(crate) mod parts;
