//! Rows as text.

use interlocking_core::lines::{read, write};
use interlocking_core::table::{Goto, Isolation, NodeKind, NodeRow, Quorum};

#[test]
fn rows_are_read_as_they_were_written() {
    let bare = NodeRow::new("a", NodeKind::Logic);
    let all = NodeRow::new("desk", NodeKind::Join)
        .entry()
        .input("Vec<(A, B)>")
        .slot("one", "[u8; \"a b\\n\n\".len()]", &["a", "b"], true)
        .slot("two", "T", &[], false)
        .optional_slot("three", "T", &["c"])
        .llm("Prompt<'_>", "")
        .goto("meet.one", &[])
        .goto("exit", &["*", "meet.two"])
        .edge(Goto::new("a", &["b"]).times(5).exhausted(Goto::new("exit", &["*"])))
        .edge(Goto::new("b", &[]).times(1))
        .fork(&["a|meet", "b"], &["a", "b"])
        .exhausted("exit", &["*"])
        .visits(3)
        .attempts(2)
        .timeout_ms(1500)
        .timed_out("exit", &["*"])
        .failed("meet.one", &[])
        .exclusive("a name")
        .agent("a role \\ two\nlines")
        .model("a model")
        .workspace("tree one")
        .read_only()
        .isolation(Isolation::Sandbox)
        .blind_to("a")
        .blind_to("b")
        .memory("group", "Map<A, B>")
        .spawn("a")
        .spawn("b")
        .resume()
        .transient()
        .map("Child graph")
        .concurrency(4)
        .depth(2)
        .adopt()
        .graph("Child graph")
        .quorum(Quorum::AtLeast(2))
        .cancels(&["a", "meet.one"])
        .adds_to("a")
        .asks("Question<A>", "Option<B, C>")
        .report("A report\nof two lines")
        .observes("a")
        .observes("b");
    let words = NodeRow::new("x", NodeKind::Map).unbounded().quorum(Quorum::Enough);
    for row in [bare, all.clone(), words] {
        assert_eq!(read(&write(&row)), Some(row));
    }
    assert_eq!(write(&all).lines().count(), 45, "one line a part, whatever is in the texts");
}

#[test]
fn every_kind_has_a_word() {
    for kind in ["llm", "logic", "fork", "join", "map", "graph", "human", "advisory", "observer", "event"] {
        let row = read(&format!("{kind} name")).expect("a kind");
        assert_eq!(write(&row), format!("{kind} name"));
    }
}

#[test]
fn other_text_is_no_row() {
    for text in [
        "",
        "logic",
        "nothing a",
        "logic a\nnothing",
        "logic a\nvisits many",
        "llm a\nisolation none",
        "logic a\ngoto exit",
    ] {
        assert_eq!(read(text), None, "{text:?}");
    }
}
