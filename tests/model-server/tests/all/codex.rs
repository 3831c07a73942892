//! The real Codex takes the server for OpenAI's.
