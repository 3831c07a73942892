//! interlocking
