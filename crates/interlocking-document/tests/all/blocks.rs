//! YAML blocks of a Markdown file.

use expect_test::expect;
use interlocking_document::markdown::{self, Block};
use interlocking_document::{Document, Field, Problems};

/// A completion report in the format of Scout-and-Wave's agents.
#[derive(Debug, PartialEq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Complete,
    Partial,
    Blocked,
}

#[derive(Debug, PartialEq)]
struct Report {
    status: Status,
    commit: String,
    files_changed: Vec<String>,
    deviations: Vec<bool>,
}

fn report(root: Field<'_>, problems: &mut Problems) -> Option<Report> {
    let mut fields = root.fields(problems)?;
    let status = fields.required("status", problems);
    let commit = fields.required("commit", problems);
    let files_changed = fields.required("files_changed", problems);
    let deviations = fields.require("interface_deviations", problems).and_then(|deviations| {
        let read = |deviation: Field<'_>| {
            let mut fields = deviation.fields(problems)?;
            let is_needed = fields.required("downstream_action_required", problems);
            fields.optional("description", String::new(), problems)?;
            fields.finish(problems);
            is_needed
        };
        Some(deviations.items(&mut Problems::of("x"))?.filter_map(read).collect())
    });
    fields.finish(problems);
    Some(Report { status: status?, commit: commit?, files_changed: files_changed?, deviations: deviations? })
}

const GOOD: &str = "\
# Feature

```rust
// ### Agent Z - Completion Report
```

### Agent A - Completion Report

Prose before.

```yaml
status: complete
commit: 1234567
files_changed: [src/a.rs]
interface_deviations:
  - description: 'größer'
    downstream_action_required: true
```

Notes after it.
";

fn yaml(text: &str) -> Vec<Block<'_>> {
    markdown::blocks(text).into_iter().filter(|block| block.language == "yaml").collect()
}

fn refusal(text: &str) -> String {
    let [block] = &yaml(text)[..] else { panic!("not one block") };
    match Document::yaml(block.source("IMPL.md")).and_then(|document| document.read(report)) {
        Ok(report) => panic!("{report:?}"),
        Err(problems) => problems.to_string(),
    }
}

/// A commit of digits only stays a string; the text before and after the block is kept apart from it.
#[test]
fn a_report_is_read_from_its_block() {
    let [block] = &yaml(GOOD)[..] else { panic!("not one block") };
    let heading = block.heading.unwrap();
    assert_eq!((heading.text, heading.level, heading.line), ("Agent A - Completion Report", 3, 7));
    assert_eq!((block.line, block.is_closed), (11, true));
    assert_eq!(GOOD[heading.end..block.range.start].trim(), "Prose before.");
    assert_eq!(GOOD[block.range.end..].trim(), "Notes after it.");
    let report = Document::yaml(block.source("IMPL.md")).unwrap().read(report).unwrap();
    let files_changed = vec!["src/a.rs".to_owned()];
    let expected =
        Report { status: Status::Complete, commit: "1234567".to_owned(), files_changed, deviations: vec![true] };
    assert_eq!(report, expected);
}

/// Errors in a block are reported with lines and columns of the file, all at once.
#[test]
fn mistakes_are_told_at_the_lines_of_the_file() {
    let wrong = GOOD
        .replace("complete", "completed")
        .replace("commit", "comit")
        .replace("files_changed: [src/a.rs]", "files_changed: src/a.rs")
        .replace("_required: true", "_required: yes!");
    expect![[r#"
        IMPL.md:12:1: the field `commit` is missing: write it
        IMPL.md:12:9: `status`: expected `complete`, `partial` or `blocked`, found "completed" (did you mean `complete`?)
        IMPL.md:13:1: `comit`: there is no such field (did you mean `commit`?); the fields are `status`, `commit`, `files_changed` and `interface_deviations`
        IMPL.md:14:16: `files_changed`: expected a list, found "src/a.rs"
        IMPL.md:17:33: `interface_deviations.downstream_action_required`: expected `true` or `false`, found "yes!""#]]
    .assert_eq(&refusal(&wrong));
    expect!["IMPL.md:15:21: this is not YAML: illegal placement of ':' indicator"]
        .assert_eq(&refusal(&GOOD.replace("[src/a.rs]", "[src/a.rs")));
    expect!["IMPL.md:12:1: there is no YAML document here: write one"]
        .assert_eq(&refusal("\n# A\n```\n```\n\n\n\n\n\n\n```yaml\n```\n"));
    expect!["IMPL.md:14:1: `status` is here twice, first in line 12: remove one"]
        .assert_eq(&refusal(&GOOD.replace("files_changed:", "status: blocked\nfiles_changed:")));
}

/// An indented block keeps its columns; Windows line ends are recognised.
#[test]
fn indentation_and_line_ends_move_no_place() {
    let text = "~~~ yaml title\n~~~\n\n   ```yaml\n   status: x\n   commit: [\n   ```\n";
    let blocks = markdown::blocks(text);
    assert_eq!((blocks[0].language, blocks[0].content), ("yaml", ""));
    let told = Document::yaml(blocks[1].source("a.md")).unwrap_err().to_string();
    assert!(told.starts_with("a.md:"), "{told}");
    let text = "# A\n  ```yaml\n  status: x\n  commit: a\n  ```\n".replace('\n', "\r\n");
    let [block] = &yaml(&text)[..] else { panic!("not one block") };
    assert_eq!(block.heading.unwrap().text, "A");
    expect![[r#"
        a.md:3:3: the field `files_changed` is missing: write it
        a.md:3:3: the field `interface_deviations` is missing: write it
        a.md:3:11: `status`: expected `complete`, `partial` or `blocked`, found "x""#]]
    .assert_eq(&Document::yaml(block.source("a.md")).unwrap().read(report).unwrap_err().to_string());
}

/// As in CommonMark.
#[test]
fn fences_and_headings_are_those_of_markdown() {
    let shown = |text: &str| {
        let blocks = markdown::blocks(text).into_iter();
        let shown = blocks.map(|block| {
            let heading = block.heading.map_or("", |heading| heading.text);
            format!("{}|{}|{:?}|{}", heading, block.language, block.content, block.is_closed)
        });
        shown.collect::<Vec<_>>()
    };
    assert_eq!(shown("````yaml\n```\na\n`````\n"), ["|yaml|\"```\\na\\n\"|true"]);
    assert_eq!(shown("~~~\n```\n~~~~  \n"), ["||\"```\\n\"|true"]);
    assert_eq!(shown("``` a`b\n"), [""; 0]);
    assert_eq!(shown("    ```\n"), [""; 0]);
    assert_eq!(shown("``\n"), [""; 0]);
    assert_eq!(shown("```yaml\n# no heading\n``` x\n"), ["|yaml|\"# no heading\\n``` x\\n\"|false"]);
    for (line, heading) in [
        ("## a b ##", "a b"),
        ("# a#", "a#"),
        ("####### a", ""),
        ("#a", ""),
        ("   # a", "a"),
        ("    # a", ""),
        ("# #", ""),
    ] {
        assert_eq!(shown(&format!("{line}\n```\n```")), [format!("{heading}||\"\"|true")]);
    }
}

/// A section ends where a heading of its level or a higher one begins; a line in a block is never a heading.
#[test]
fn sections_hold_the_deeper_ones() {
    let text = "before\n# One\na\n## Two\nb\n```\n# no heading\n```\n### Three ##\nc\n## Four\nd\n# Five\n";
    let found: Vec<_> = markdown::sections(text)
        .into_iter()
        .map(|section| {
            assert_eq!(text[section.range.clone()].lines().count(), section.body.lines().count() + 1);
            (section.heading.level, section.heading.text, section.first_line(), section.body)
        })
        .collect();
    let three = (3, "Three", 10, "c\n");
    let two = (2, "Two", 5, "b\n```\n# no heading\n```\n### Three ##\nc\n");
    let one = (1, "One", 3, "a\n## Two\nb\n```\n# no heading\n```\n### Three ##\nc\n## Four\nd\n");
    assert_eq!(found, [one, two, three, (2, "Four", 12, "d\n"), (1, "Five", 14, "")]);
    assert_eq!(markdown::sections("no heading"), []);
}
