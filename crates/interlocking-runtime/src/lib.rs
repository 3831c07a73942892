//! interlocking-runtime
