//! The model server, asked by hand and by the real programs.

mod claude;
mod codex;
mod dialects;
mod every_file_is_here;
mod faults;
mod lock;
mod real;
mod rules;
mod wire;
