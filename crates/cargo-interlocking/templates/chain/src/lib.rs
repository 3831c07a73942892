//! A text is outlined, drafted, and drafted again until its reviewer finds no fault.

pub mod graph;
pub mod handlers;
