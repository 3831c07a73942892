//! Compile-fail tests, the compiled README and the end-to-end tests of the workspace.
