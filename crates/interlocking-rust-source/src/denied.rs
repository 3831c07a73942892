//! Code that a project does not want: `unsafe`, and what it has denied by name.

use crate::syntax::read_tokens;
use crate::tokens::{is_mark, is_member, is_separator, levels, name_at};
use crate::{RefusedConstruct, SourceError};
use proc_macro2::{Delimiter, Span, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use toml::de::{DeTable, DeValue};

/// What is denied (TC-06).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Denied {
    /// Whether `unsafe` and `extern` code is, in any form: blocks, functions, implementations, foreign functions, attributes that need it.
    pub unsafe_code: bool,
    /// Crates, by the names that manifests give them: `libc`, `proc-macro2`.
    pub crates: Vec<String>,
    /// Paths, with everything below them: `std::process`, `std::fs::remove_file`.
    pub paths: Vec<String>,
}

/// Attributes that are unsafe, also where they are not written so.
const UNSAFE_ATTRIBUTES: [&str; 3] = ["no_mangle", "export_name", "link_section"];

/// Finds denied code in a file, in the file's order, each with what to do (TC-06, V3-62).
///
/// It goes by tokens, so macros' arguments and rules are looked at like everything else; texts and comments are not code. A path is
/// followed through the names that `use` gives it anywhere in the file. A path that begins with the name of a denied crate counts also
/// where a module of that name would be meant, but for `crate::`, `self::` and `super::`.
///
/// # Errors
///
/// [`SourceError`] where the file cannot be read as Rust's tokens.
pub fn denied_code(path: &str, text: &str, denied: &Denied) -> Result<Vec<RefusedConstruct>, SourceError> {
    read_tokens(path, text, |tokens| {
        let mut search = Search::new(path, denied);
        let levels = levels(tokens);
        for level in &levels {
            search.words(&level.tokens);
            // What continues the path of a `use` is looked at with it.
            for start in (0..level.tokens.len()).filter(|_| !level.is_of_use) {
                search.paths_from(&level.tokens, start);
            }
        }
        search.end()
    })
}

/// Finds dependencies on denied crates in a manifest: in any table of dependencies, also under another name (TC-06).
///
/// # Errors
///
/// [`SourceError`] where the manifest is not TOML.
pub fn denied_dependencies(path: &str, manifest: &str, denied: &Denied) -> Result<Vec<RefusedConstruct>, SourceError> {
    let mut found = Vec::new();
    for dependency in dependencies(path, manifest)? {
        if denied.crates.iter().any(|name| same_crate(name, &dependency.package)) {
            let (line, column) = place(manifest, dependency.offset);
            let reason = format!("the crate `{}` is denied; do without it", dependency.package);
            found.push(RefusedConstruct { path: path.to_owned(), line, column, construct: dependency.name, reason });
        }
    }
    found.sort_by_key(|found| (found.line, found.column));
    Ok(found)
}

impl Denied {
    /// Denies the names that a manifest gives to denied crates, too: `[dependencies] c = { package = "libc" }` is `c` in the source.
    ///
    /// # Errors
    ///
    /// [`SourceError`] where the manifest is not TOML.
    pub fn with_names_in(mut self, path: &str, manifest: &str) -> Result<Self, SourceError> {
        for dependency in dependencies(path, manifest)? {
            let is_denied = |name: &str| self.crates.iter().any(|denied| same_crate(denied, name));
            if is_denied(&dependency.package) && !is_denied(&dependency.name) {
                self.crates.push(dependency.name);
            }
        }
        Ok(self)
    }
}

struct Search<'a> {
    path: &'a str,
    denies_unsafe: bool,
    /// As names of a path each.
    paths: Vec<Vec<String>>,
    /// What was seen of paths: where, and whether all below it is taken.
    seen: Vec<(Vec<String>, bool, Span)>,
    /// What `use` calls a path.
    names: BTreeMap<String, BTreeSet<Vec<String>>>,
    /// Paths of which all names are imported.
    globs: BTreeSet<Vec<String>>,
    found: Vec<RefusedConstruct>,
}

impl<'a> Search<'a> {
    fn new(path: &'a str, denied: &Denied) -> Self {
        let crates = denied.crates.iter().map(|name| vec![name.replace('-', "_")]);
        let paths =
            denied.paths.iter().map(|path| plain(path.split("::").map(|name| name.trim().to_owned()).collect()));
        let paths = crates.chain(paths).filter(|path| !path.is_empty()).collect();
        let (seen, names, globs, found) = Default::default();
        Self { path, denies_unsafe: denied.unsafe_code, paths, seen, names, globs, found }
    }

    /// Words that are denied wherever they stand.
    fn words(&mut self, tokens: &[TokenTree]) {
        for (at, token) in tokens.iter().enumerate() {
            let TokenTree::Ident(word) = token else { continue };
            let next = name_at(tokens, at + 1);
            let is_attribute = UNSAFE_ATTRIBUTES.iter().any(|name| word == name) && is_in_attribute(tokens, at);
            let is_denied = word == "unsafe" || word == "extern" && next.as_deref() != Some("crate") || is_attribute;
            if self.denies_unsafe && is_denied {
                self.deny(&word.to_string(), "unsafe code is denied; write it in safe Rust", word.span());
            }
        }
    }

    /// The paths that begin at a token.
    fn paths_from(&mut self, tokens: &[TokenTree], start: usize) {
        let Some(TokenTree::Ident(_)) = tokens.get(start) else { return };
        let before = start.checked_sub(1);
        let follows_colons = start >= 2 && is_separator(tokens, start - 2);
        // The inside of another path, a field, a lifetime.
        let is_inside = follows_colons && start >= 3 && continues(&tokens[start - 3]);
        if is_inside || is_member(tokens, start) || before.is_some_and(|before| is_mark(tokens.get(before), '\'')) {
            return;
        }
        let name = name_at(tokens, start).unwrap_or_default();
        if name == "use" {
            return self.import(&tokens[start + 1..]);
        }
        if name == "crate" && before.and_then(|before| name_at(tokens, before)).as_deref() == Some("extern") {
            return self.extern_crate(tokens, start);
        }
        let (path, _) = path_at(tokens, start);
        self.seen.push((path, false, tokens[start].span()));
    }

    /// `extern crate name as other;`
    fn extern_crate(&mut self, tokens: &[TokenTree], at: usize) {
        let Some(name) = name_at(tokens, at + 1) else { return };
        let span = tokens[at + 1].span();
        if name_at(tokens, at + 2).as_deref() == Some("as")
            && let Some(other) = name_at(tokens, at + 3)
        {
            self.names.entry(other).or_default().insert(vec![name.clone()]);
        }
        self.seen.push((vec![name], false, span));
    }

    /// What follows `use`, to its end.
    fn import(&mut self, tokens: &[TokenTree]) {
        let mut waiting = vec![(Vec::<String>::new(), tokens.to_vec())];
        while let Some((before, tokens)) = waiting.pop() {
            let end = tokens.iter().position(|token| is_mark(Some(token), ';')).unwrap_or(tokens.len());
            let mut at = 0;
            while is_mark(tokens.get(at), ':') {
                at += 1;
            }
            let (names, next) = path_at(&tokens[..end], at);
            let path = [before, names].concat();
            let path: Vec<String> = path.into_iter().filter(|name| name != "self").collect();
            let span = tokens.get(at).map_or_else(Span::call_site, TokenTree::span);
            match tokens.get(next) {
                Some(TokenTree::Group(group))
                    if group.delimiter() == Delimiter::Brace && (next == 0 || is_mark(tokens.get(next - 1), ':')) =>
                {
                    let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                    let entries = inside.split(|token| is_mark(Some(token), ','));
                    waiting.extend(entries.map(|entry| (path.clone(), entry.to_vec())));
                }
                Some(TokenTree::Punct(mark)) if mark.as_char() == '*' => {
                    self.seen.push((path.clone(), true, span));
                    self.globs.insert(plain(path));
                }
                _ => {
                    let renamed = (name_at(&tokens, next).as_deref() == Some("as")).then(|| name_at(&tokens, next + 1));
                    if let Some(name) = renamed.flatten().or_else(|| path.last().cloned()) {
                        self.names.entry(name).or_default().insert(plain(path.clone()));
                    }
                    self.seen.push((path, false, span));
                }
            }
        }
    }

    /// Holds everything seen against what is denied, once all names are known.
    fn end(mut self) -> Vec<RefusedConstruct> {
        // Only names that can lead to something denied are followed.
        let leads = |path: &[String], paths: &[Vec<String>]| {
            paths.iter().any(|denied| denied.starts_with(path) || path.starts_with(denied))
        };
        let globs: Vec<_> = self.globs.iter().filter(|glob| leads(glob, &self.paths)).cloned().collect();
        for (path, _, span) in std::mem::take(&mut self.seen) {
            let mut meant = BTreeSet::from([plain(path)]);
            for _ in 0..8 {
                let further: BTreeSet<Vec<String>> = meant.iter().flat_map(|path| self.further(path, &globs)).collect();
                let more: BTreeSet<_> = further
                    .into_iter()
                    .filter(|path| leads(path, &self.paths) || self.names.contains_key(&path[0]))
                    .collect();
                if more.is_subset(&meant) || meant.len() > 64 {
                    break;
                }
                meant.extend(more);
            }
            let denied = self.paths.iter().find(|denied| meant.iter().any(|path| path.starts_with(denied)));
            if let Some(denied) = denied.map(|denied| denied.join("::")) {
                self.deny(&denied, "it is denied; do without it", span);
            }
        }
        self.found.sort_by_key(|found| (found.line, found.column));
        self.found.dedup();
        self.found
    }

    /// What a path can mean, by one name that was given or imported.
    fn further(&self, path: &[String], globs: &[Vec<String>]) -> Vec<Vec<String>> {
        let Some((first, rest)) = path.split_first() else { return Vec::new() };
        let renamed = self.names.get(first).into_iter().flatten().map(|meant| [meant, rest].concat());
        let of_globs = globs.iter().map(|glob| [&glob[..], path].concat());
        renamed.chain(of_globs).filter(|path| path.len() < 32).collect()
    }

    fn deny(&mut self, construct: &str, reason: &str, at: Span) {
        let (path, start) = (self.path.to_owned(), at.start());
        let (construct, reason) = (construct.to_owned(), reason.to_owned());
        self.found.push(RefusedConstruct { path, line: start.line, column: start.column + 1, construct, reason });
    }
}

/// The names of a path that begins there, and what comes after it.
fn path_at(tokens: &[TokenTree], mut at: usize) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    while let Some(name) = name_at(tokens, at) {
        if name == "as" && !path.is_empty() {
            break;
        }
        path.push(name);
        at += 1;
        if !is_separator(tokens, at) {
            break;
        }
        at += 2;
    }
    (path, at)
}

/// `std`, `core` and `alloc` are one; `r#` is no part of a name.
fn plain(mut path: Vec<String>) -> Vec<String> {
    path.retain(|name| !name.is_empty());
    if let Some(first) = path.first_mut().filter(|first| matches!(first.as_str(), "core" | "alloc")) {
        "std".clone_into(first);
    }
    path
}

/// Whether a path can go on after it.
fn continues(token: &TokenTree) -> bool {
    match token {
        TokenTree::Ident(name) => !["as", "dyn", "impl", "in", "mut", "return", "use"].iter().any(|word| name == word),
        TokenTree::Punct(mark) => mark.as_char() == '>',
        _ => false,
    }
}

/// Whether nothing but an attribute begins like that: alone between brackets, or after a comma or in the brackets of `unsafe`.
fn is_in_attribute(tokens: &[TokenTree], at: usize) -> bool {
    let is_first = at == 0 || is_mark(tokens.get(at - 1), ',');
    is_first && (tokens.get(at + 1).is_none() || is_mark(tokens.get(at + 1), '=') || is_mark(tokens.get(at + 1), ','))
}

struct Dependency {
    /// What it is called in the source.
    name: String,
    /// The crate.
    package: String,
    offset: usize,
}

/// All dependencies that a manifest names, of whatever kind and wherever.
fn dependencies(path: &str, manifest: &str) -> Result<Vec<Dependency>, SourceError> {
    let table = DeTable::parse(manifest).map_err(|error| {
        let (line, column) = place(manifest, error.span().map_or(0, |span| span.start));
        SourceError { path: path.to_owned(), line, column, reason: format!("not TOML: {}", error.message()) }
    })?;
    let mut found = Vec::new();
    let mut waiting = vec![table.get_ref()];
    while let Some(table) = waiting.pop() {
        for (key, value) in table {
            let DeValue::Table(inside) = value.get_ref() else { continue };
            if !key.get_ref().ends_with("dependencies") {
                waiting.push(inside);
                continue;
            }
            for (name, value) in inside {
                let package = match value.get_ref() {
                    DeValue::Table(of) => of.get("package").and_then(|package| package.get_ref().as_str()),
                    _ => None,
                };
                let (name, offset) = (name.get_ref().to_string(), name.span().start);
                found.push(Dependency { package: package.map_or_else(|| name.clone(), str::to_owned), name, offset });
            }
        }
    }
    Ok(found)
}

fn same_crate(one: &str, other: &str) -> bool {
    one.replace('-', "_") == other.replace('-', "_")
}

fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_begins = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_begins..].chars().count() + 1)
}

#[cfg(test)]
mod tests;
