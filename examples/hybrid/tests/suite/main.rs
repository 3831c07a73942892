//! What needs real processes and real files.

mod demonstration;
mod workshop;
