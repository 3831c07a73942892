//! What a function calls, directly and through other functions of its file, as a server knows it.

use super::LanguageServer;
use super::messages::{CallHierarchyItem, Definition, Definitions, OutgoingCall};
use super::program::Language;
use crate::aside::aside;
use crate::error::CodeError;
use crate::intelligence::{Call, OutgoingCalls, Position, Symbol, SymbolKind};
use interlocking_rust_source::{CalledName, called_names};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// The most calls that are looked up for one question: more than any honest function has. An agent decides how many it writes.
const MOST_CALLS: usize = 500;

/// The file of one question, and how much of the server may still be asked.
struct Question<'a> {
    file: &'a Path,
    lines: Vec<&'a str>,
    /// The names that the file calls by its syntax, if that is what the server is asked about.
    called: Arc<[CalledName]>,
    left: usize,
    /// The line from which on calls were not looked up.
    unasked: Option<u32>,
}

impl Question<'_> {
    fn line(&self, number: u32) -> &str {
        self.lines.get(number.saturating_sub(1) as usize).copied().unwrap_or_default()
    }

    /// Whether the call in this line may be looked up.
    fn may_ask(&mut self, line: u32) -> bool {
        if self.left == 0 {
            self.unasked = Some(line);
            return false;
        }
        self.left -= 1;
        true
    }
}

impl LanguageServer {
    /// The calls of a function, with those of the functions of its file that it calls.
    pub(super) async fn calls_of(&self, file: &Path, function: &Symbol) -> Result<OutgoingCalls, CodeError> {
        let text = self.open(file).await?;
        let symbols = self.symbols_of(file, &text).await?;
        let called = match self.language {
            Language::Rust => self.called_in(file, &text).await?,
            Language::Python => Arc::new([]),
        };
        let mut question = Question { file, lines: text.lines().collect(), called, left: MOST_CALLS, unasked: None };
        let mut found = OutgoingCalls::default();
        let (mut open, mut seen) = (vec![function], BTreeSet::from([function.position]));
        while let Some(next) = open.pop() {
            let OutgoingCalls { calls, unclear } = self.direct_calls(&mut question, next).await?;
            found.unclear.extend(unclear);
            for call in calls {
                if call.file == file {
                    // A call of a variable calls a closure, whose body is part of the function with the variable.
                    let Some(own) = symbols.iter().find(|it| it.position == call.definition) else { continue };
                    if own.kind == SymbolKind::Function && seen.insert(own.position) {
                        open.push(own);
                    }
                }
                found.calls.push(call);
            }
            if let Some(line) = question.unasked {
                found.unclear.push(format!(
                    "`{}` makes more than {MOST_CALLS} calls, with those of the functions that it calls: what `{}` calls from line {line} \
                     on was not looked up",
                    function.name, next.name
                ));
                break;
            }
        }
        found.calls.sort_by_key(|call| call.at);
        Ok(found)
    }

    /// The names that a Rust file with this text calls by its syntax.
    async fn called_in(&self, file: &Path, text: &Arc<str>) -> Result<Arc<[CalledName]>, CodeError> {
        let known = self.documents.lock().await.findings(file, text).and_then(|found| found.called.clone());
        if let Some(called) = known {
            return Ok(called);
        }
        let (path, shared) = (file.to_owned(), text.clone());
        let called: Arc<[CalledName]> = aside(move || called_names(&path.to_string_lossy(), &shared)).await?.into();
        if let Some(findings) = self.documents.lock().await.findings(file, text) {
            findings.called = Some(called.clone());
        }
        Ok(called)
    }

    /// The calls in a function's own body.
    async fn direct_calls(&self, question: &mut Question<'_>, function: &Symbol) -> Result<OutgoingCalls, CodeError> {
        match self.language {
            // rust-analyzer's call hierarchy omits calls in the arguments of macros, such as `assert_eq!`.
            Language::Rust => self.calls_by_definition(question, function).await,
            Language::Python => self.calls_by_hierarchy(question, function).await,
        }
    }

    /// Finds the names that a Rust function calls by its syntax, also in the arguments of macros, and asks the server for the
    /// definition of each.
    async fn calls_by_definition(
        &self,
        question: &mut Question<'_>,
        function: &Symbol,
    ) -> Result<OutgoingCalls, CodeError> {
        let mut found = OutgoingCalls::default();
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let inside = question.called.iter().filter(|called| function.lines.contains(&number(called.line)));
        let inside: Vec<CalledName> = inside.take(question.left + 1).cloned().collect();
        for called in inside {
            let at = Position { line: number(called.line), column: number(called.column) };
            if !question.may_ask(at.line) {
                break;
            }
            let place = self.documents.lock().await.place(question.file, question.line(at.line), at)?;
            let definitions = match self.ask("textDocument/definition", place).await? {
                Definitions::Several(definitions) => definitions,
                Definitions::One(definition) => vec![definition],
                Definitions::None(()) => Vec::new(),
            };
            if definitions.is_empty() {
                found.unclear.push(format!("what `{}` is in line {} cannot be resolved", called.name, at.line));
            }
            for definition in definitions {
                let (uri, start) = match definition {
                    Definition::Link { target_uri, target_selection_range } => {
                        (target_uri, target_selection_range.start)
                    }
                    Definition::Location { uri, range } => (uri, range.start),
                };
                let (file, definition) = self.documents.lock().await.place_of(&uri, start);
                found.calls.push(Call { name: called.name.clone(), at, file, definition });
            }
        }
        Ok(found)
    }

    /// Asks the server for its call hierarchy.
    async fn calls_by_hierarchy(
        &self,
        question: &mut Question<'_>,
        function: &Symbol,
    ) -> Result<OutgoingCalls, CodeError> {
        let line = question.line(function.position.line);
        let at = self.documents.lock().await.place(question.file, line, function.position)?;
        let items: Option<Vec<Value>> = self.ask("textDocument/prepareCallHierarchy", at).await?;
        let mut found = OutgoingCalls::default();
        for item in items.unwrap_or_default() {
            let item = json!({ "item": item });
            let calls: Option<Vec<OutgoingCall>> = self.ask("callHierarchy/outgoingCalls", item).await?;
            let documents = self.documents.lock().await;
            for OutgoingCall { to: CallHierarchyItem { name, uri, selection_range }, from_ranges } in
                calls.unwrap_or_default()
            {
                let first =
                    from_ranges.first().map_or(function.position.line, |from| from.start.line.saturating_add(1));
                if !question.may_ask(first) {
                    return Ok(found);
                }
                let (file, definition) = documents.place_of(&uri, selection_range.start);
                for from in from_ranges {
                    let at = documents.position(question.line(from.start.line.saturating_add(1)), from.start);
                    found.calls.push(Call { name: name.clone(), at, file: file.clone(), definition });
                }
            }
        }
        Ok(found)
    }
}
