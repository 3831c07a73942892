//! Payloads by their content: each stored once, most as what they changed of an earlier one (V3-143 to V3-149).
//!
//! - [`digest`]: a payload's name.
//! - [`splice`]: a payload as pieces of another and what is new; [`chain`]: such pieces followed down to what is whole.
//! - [`packed`]: an object's bytes, deflated where that is shorter.
//! - [`objects`]: payloads written to the tables `object` and `name`; [`stored`]: read from them.
//! - [`parts`]: a large payload as a manifest and parts that can be read one by one.

pub(crate) mod digest;
pub(crate) mod splice;
pub(crate) mod chain;
pub(crate) mod packed;
pub(crate) mod objects;
pub(crate) mod stored;
pub(crate) mod parts;
