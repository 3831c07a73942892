//! The model server, asked by hand and by the real programs.

mod claude;
mod codex;
mod every_file_is_here;
mod real;
