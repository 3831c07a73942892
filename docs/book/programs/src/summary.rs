//! `SUMMARY.md` lists each page once.

use crate::pages::pages;
use std::path::Path;

#[test]
fn the_summary_lists_each_page_once() {
    let pages = pages();
    let summary = Path::new("SUMMARY.md");
    let (_, text) = pages.iter().find(|(path, _)| path == summary).unwrap();
    let mut listed: Vec<_> = text.split("](").skip(1).map(|link| Path::new(link.split(')').next().unwrap())).collect();
    listed.sort_unstable();
    let found: Vec<_> = pages.iter().map(|(path, _)| path.as_path()).filter(|path| *path != summary).collect();
    assert_eq!(listed, found);
}
