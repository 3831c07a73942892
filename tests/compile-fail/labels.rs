//! Every exit has a label, with a severity; its route hint is an edge of its node.

use interlocking::prelude::*;

#[derive(Labels)]
#[labels(node = newsroom::review)]
enum Unsaid {
    #[label(info)]
    Done,
    Blocked { on: String },
    #[label(fatal)]
    Broken,
    #[label(warn, hint = newsroom::write)]
    Late,
}

#[derive(Labels)]
enum Nowhere {
    #[label(blocker, route_hint = newsroom::write)]
    Blocked,
}

#[derive(Labels)]
enum Twice {
    #[label(info)]
    HttpError,
    #[label(warn)]
    HTTPError,
}

#[derive(Labels)]
struct Exit;

#[derive(Labels)]
enum Nothing {}

fn main() {}
