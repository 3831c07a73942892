//! An error in a file, reported with its location.

use interlocking::document::{Document, Source};

fn main() {
    let read = Document::toml(Source::new("deploy.toml", "port = 'all'"))
        .and_then(|document| document.read(|root, problems| root.fields(problems)?.required::<u16>("port", problems)));
    match read {
        Ok(port) => println!("{port}"),
        Err(problems) => println!("{problems}"),
    }
}
