//! interlocking-core
