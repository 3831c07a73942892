//! The protocols that are embedded in this crate.

/// The protocols that are embedded in this crate, by name. Nothing is read or fetched for them.
pub const EMBEDDED: [(&str, &str); 4] = [
    ("bug-discovery", include_str!("../protocols/bug-discovery.yaml")),
    ("debugging", include_str!("../protocols/debugging.yaml")),
    ("discovery", include_str!("../protocols/discovery.yaml")),
    ("implementation", include_str!("../protocols/implementation.yaml")),
];

/// The text of an embedded protocol.
pub(crate) fn text_of(name: &str) -> Option<&'static str> {
    EMBEDDED.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
