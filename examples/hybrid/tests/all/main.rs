//! Whole runs of the protocol, with scripted agents whose work is really written, built, tested and merged.

mod stage;

mod happy_path;
