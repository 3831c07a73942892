//! A public graph may have private handlers and private payloads, and the derived code causes no warning under
//! strict lints.

#![deny(warnings, missing_debug_implementations, non_camel_case_types, unreachable_pub)]
#![deny(
    unused_qualifications,
    unused_lifetimes,
    single_use_lifetimes,
    unnameable_types,
    let_underscore_drop,
    clippy::all,
    clippy::allow_attributes
)]

/// A public module.
pub mod news {
    use interlocking::prelude::*;
    use serde::{Deserialize, Serialize};

    /// Comes in.
    #[derive(Debug, Serialize, Deserialize)]
    pub struct Draft(pub String);

    #[derive(Debug, Serialize, Deserialize)]
    struct Notes(Vec<String>);

    /// Goes in, comes out.
    #[derive(Debug, Graph)]
    #[graph(output = String)]
    pub struct Newsroom {
        /// Where it starts.
        #[node(entry, input = Draft, goto(review))]
        pub write: LogicNode<Write>,
        #[node(input = Notes, goto(print))]
        review: LogicNode<Review>,
        #[node(input = String, goto(exit))]
        pub(crate) print: LogicNode<Print>,
    }

    impl Newsroom {
        /// The only way to make a graph, since it has private fields.
        pub fn open() -> Self {
            Self { write: LogicNode(Write), review: LogicNode(Review), print: LogicNode(Print) }
        }
    }

    /// Handles the first node.
    #[derive(Debug)]
    pub struct Write;
    #[derive(Debug)]
    struct Review;
    #[derive(Debug)]
    pub(crate) struct Print;

    impl LogicHandler<newsroom::write> for Write {
        async fn run(&self, draft: Draft, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
            goto!(cx, newsroom::review, Notes(vec![draft.0]))
        }
    }
    impl LogicHandler<newsroom::review> for Review {
        async fn run(&self, notes: Notes, cx: &mut Cx<'_, newsroom::review>) -> Route<newsroom::review> {
            goto!(cx, newsroom::print, notes.0.concat())
        }
    }
    impl LogicHandler<newsroom::print> for Print {
        async fn run(&self, text: String, cx: &mut Cx<'_, newsroom::print>) -> Route<newsroom::print> {
            goto!(cx, newsroom::exit, text)
        }
    }
}

held!(news::Newsroom);

fn index<N: interlocking::graph::Node>() -> u16 {
    N::INDEX
}

#[test]
fn a_marker_is_as_visible_as_its_field() {
    let _graph = news::Newsroom::open();
    // The markers of the fields that are visible here; the marker of `review` is not.
    assert_eq!((index::<news::newsroom::write>(), index::<news::newsroom::print>()), (0, 2));
}
