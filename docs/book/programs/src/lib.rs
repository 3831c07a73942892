//! The programs that the book shows, run, and what holds the book's pages to the repository.
//!
//! A program is a file, complete as it stands, in `nodes/` or `cookbook/`. A page shows it below the line `<!-- program: nodes/join -->`, and
//! the picture of a table below `<!-- picture: nodes/join Translation -->`; below `<!-- file: PATH -->` stands another file of the repository.
//! `UPDATE_BOOK=1 cargo test -p interlocking-book` copies what has changed into the pages.

#![cfg(test)]

mod links;
mod messages;
mod pages;
mod programs;
mod summary;
