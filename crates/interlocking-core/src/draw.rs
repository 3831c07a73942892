//! Diagrams of a routing table: Mermaid and DOT.
