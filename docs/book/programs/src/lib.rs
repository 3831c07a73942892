//! Runs the programs that the book shows, and tests that the book's pages agree with the repository.
//!
//! A program is one complete file in `nodes/` or `cookbook/`. A page shows it below the line `<!-- program: nodes/join -->`,
//! the diagram of a table below `<!-- picture: nodes/join Translation -->`, and any other file of the repository below
//! `<!-- file: PATH -->`. `UPDATE_BOOK=1 cargo test -p interlocking-book` copies changes into the pages.

#![cfg(test)]

mod links;
mod messages;
mod pages;
mod programs;
mod summary;
