//! Finding a section by its heading, and the YAML block in it.

use interlocking::document::markdown::{self, Block, Section};
use interlocking::document::{Document, Position, Problems};
use serde::de::DeserializeOwned;

/// The names of sections.
pub(super) const SUITABILITY: &str = "Suitability";
pub(super) const STATUS: &str = "Status";
pub(super) const WAVES: &str = "Waves";
pub(super) const CONTRACTS: &str = "Interface Contracts";
pub(super) const PROMPTS: &str = "Agent Prompts";
pub(super) const REPORTS: &str = "Completion Reports";

/// The text of a document, by its sections.
pub(super) struct Sections<'t> {
    pub(super) file: &'t str,
    pub(super) text: &'t str,
    sections: Vec<Section<'t>>,
    blocks: Vec<Block<'t>>,
}

impl<'t> Sections<'t> {
    pub(super) fn of(file: &'t str, text: &'t str) -> Self {
        Self { file, text, sections: markdown::sections(text), blocks: markdown::blocks(text) }
    }

    /// All sections, each after those that it is in.
    pub(super) fn all(&self) -> impl Iterator<Item = &Section<'t>> {
        self.sections.iter()
    }

    /// The only section of the second level with that name; mistakes are added to `problems`.
    pub(super) fn section(&self, name: &str, problems: &mut Problems) -> Option<&Section<'t>> {
        let mut found =
            self.sections.iter().filter(|section| section.heading.level == 2 && section.heading.text == name);
        let first = found.next();
        if first.is_none() {
            problems.add(Position::START, "", format!("there is no section `## {name}`: write one"));
        }
        if let Some(second) = found.next() {
            let at = Position { line: second.heading.line, column: 1 };
            problems.add(at, "", format!("there is a second section `## {name}`: keep one of them"));
            return None;
        }
        first
    }

    /// The part of the section of reports that is a list with this heading.
    pub(super) fn list(&self, heading: &str) -> Option<&Section<'t>> {
        let reports = self.section(REPORTS, &mut Problems::of(self.file))?;
        let mut inside = self.sections.iter().filter(|section| reports.range.contains(&section.range.start));
        inside.find(|section| section.heading.level == 3 && section.heading.text == heading)
    }

    /// The first YAML block of a section.
    pub(super) fn block(&self, section: &Section<'t>) -> Option<&Block<'t>> {
        self.yaml().find(|block| section.range.contains(&block.range.start))
    }

    /// All YAML blocks.
    pub(super) fn yaml(&self) -> impl Iterator<Item = &Block<'t>> {
        self.blocks.iter().filter(|block| matches!(block.language, "yaml" | "yml"))
    }

    /// The value of the YAML block of a section; mistakes are added to `problems`, at their places in the file.
    pub(super) fn value<T: DeserializeOwned>(&self, name: &str, problems: &mut Problems) -> Option<T> {
        let section = self.section(name, problems)?;
        let Some(block) = self.block(section) else {
            let at = Position { line: section.heading.line, column: 1 };
            problems.add(
                at,
                "",
                format!("the section `## {name}` has no YAML block: write one, between ```yaml and ```"),
            );
            return None;
        };
        self.value_of(block, problems)
    }

    /// The value of a YAML block.
    pub(super) fn value_of<T: DeserializeOwned>(&self, block: &Block<'_>, problems: &mut Problems) -> Option<T> {
        let read = Document::yaml(block.source(self.file))
            .and_then(|document| document.read(|root, found| root.read::<T>(found)));
        read.map_err(|found| file_all(&found, problems)).ok()
    }
}

fn file_all(found: &Problems, problems: &mut Problems) {
    for problem in found.iter() {
        let at = Position { line: problem.place.line, column: problem.place.column };
        problems.add(at, problem.field.as_deref().unwrap_or_default(), &problem.message);
    }
}
