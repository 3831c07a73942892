//! What needs real processes and real files.

mod demonstration;
mod forged;
mod workshop;
