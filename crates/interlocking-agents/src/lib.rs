//! interlocking-agents
