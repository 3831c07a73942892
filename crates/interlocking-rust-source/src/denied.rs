//! Finds code that a project denies: `unsafe`, and crates and paths by name.

use crate::syntax::read_tokens;
use crate::tokens::{is_mark, is_member, is_separator, levels, name_at};
use crate::{RefusedConstruct, SourceError};
use proc_macro2::{Delimiter, Span, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use toml::de::{DeTable, DeValue};

/// What is denied (TC-06).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Denied {
    /// Whether `unsafe` and `extern` code is denied in any form: blocks, functions, implementations, foreign functions, and
    /// attributes that are unsafe.
    pub unsafe_code: bool,
    /// Denied crates, by their names in manifests: `libc`, `proc-macro2`.
    pub crates: Vec<String>,
    /// Denied paths, with everything below them: `std::process`, `std::fs::remove_file`.
    pub paths: Vec<String>,
}

/// Attributes that are unsafe, even if they are written without `unsafe`.
const UNSAFE_ATTRIBUTES: [&str; 3] = ["no_mangle", "export_name", "link_section"];

/// Finds denied code in a file, in the file's order, each with what to do (TC-06, V3-62).
///
/// The search reads tokens, so it includes the arguments and rules of macros, but no string literals and comments. It follows a
/// path through the names that `use` gives it anywhere in the file, in any scope. A path that begins with the name of a denied
/// crate also counts if it means a module of that name, unless it begins with `crate::`, `self::` or `super::`.
///
/// Names that another file gives, and paths that a macro assembles, are not found: a name is denied in the file that gives it.
///
/// # Errors
///
/// [`SourceError`] if the file cannot be read as Rust tokens.
pub fn denied_code(path: &str, text: &str, denied: &Denied) -> Result<Vec<RefusedConstruct>, SourceError> {
    read_tokens(path, text, |tokens| {
        let mut search = Search::new(path, denied);
        let levels = levels(tokens);
        for level in &levels {
            search.words(&level.tokens);
            // The groups of a `use` are handled with the `use` itself.
            for start in (0..level.tokens.len()).filter(|_| !level.is_of_use) {
                search.paths_from(&level.tokens, start);
            }
        }
        search.end()
    })
}

/// Finds dependencies on denied crates in a manifest: in every table of dependencies, including renamed ones (TC-06).
///
/// # Errors
///
/// [`SourceError`] if the manifest is not TOML.
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
    /// Also denies the names to which a manifest renames denied crates: `[dependencies] c = { package = "libc" }` is `c` in the
    /// source.
    ///
    /// # Errors
    ///
    /// [`SourceError`] if the manifest is not TOML.
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
    /// The denied paths, split into their names.
    paths: Vec<Vec<String>>,
    /// The paths in the file, with their positions.
    seen: Vec<(Vec<String>, Span)>,
    /// The names that `use` gives to paths, in the file's order; `None` for a glob import.
    uses: Vec<(Option<String>, Vec<String>)>,
    modules: BTreeSet<String>,
    found: Vec<RefusedConstruct>,
}

impl<'a> Search<'a> {
    fn new(path: &'a str, denied: &Denied) -> Self {
        let crates = denied.crates.iter().map(|name| vec![name.replace('-', "_")]);
        let paths = denied
            .paths
            .iter()
            .map(|path| plain(path.split("::").map(|name| name.trim().trim_start_matches("r#").to_owned()).collect()));
        let paths = crates.chain(paths).filter(|path| !path.is_empty()).collect();
        let (seen, uses, modules, found) = Default::default();
        Self { path, denies_unsafe: denied.unsafe_code, paths, seen, uses, modules, found }
    }

    /// Finds words that are denied anywhere.
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

    /// Records the paths that begin at a token.
    fn paths_from(&mut self, tokens: &[TokenTree], start: usize) {
        let Some(TokenTree::Ident(_)) = tokens.get(start) else { return };
        let before = start.checked_sub(1);
        let follows_colons = start >= 2 && is_separator(tokens, start - 2);
        // Skips the inside of another path, a field, and a lifetime.
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
        if name == "mod" {
            self.modules.extend(name_at(tokens, start + 1));
        }
        let (path, _) = path_at(tokens, start);
        self.seen.push((path, tokens[start].span()));
    }

    /// Records `extern crate name as other;`.
    fn extern_crate(&mut self, tokens: &[TokenTree], at: usize) {
        let Some(name) = name_at(tokens, at + 1) else { return };
        let span = tokens[at + 1].span();
        if name_at(tokens, at + 2).as_deref() == Some("as")
            && let Some(other) = name_at(tokens, at + 3)
        {
            self.uses.push((Some(other), vec![name.clone()]));
        }
        self.seen.push((vec![name], span));
    }

    /// Records the paths and names of a `use`, whose tokens after `use` are given.
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
            let is_inner_self = |at: usize, name: &str| at > 0 && name == "self";
            let path = path.into_iter().enumerate().filter(|(at, name)| !is_inner_self(*at, name));
            let path: Vec<String> = path.map(|(_, name)| name).collect();
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
                    self.seen.push((path.clone(), span));
                    self.uses.push((None, path));
                }
                _ => {
                    let renamed = (name_at(&tokens, next).as_deref() == Some("as")).then(|| name_at(&tokens, next + 1));
                    if let Some(name) = renamed.flatten().or_else(|| path.last().cloned()) {
                        self.uses.push((Some(name), path.clone()));
                    }
                    self.seen.push((path, span));
                }
            }
        }
    }

    /// Compares all recorded paths with the denied ones, once all names are known.
    fn end(mut self) -> Vec<RefusedConstruct> {
        let names = Names::of(&self.paths, std::mem::take(&mut self.modules), std::mem::take(&mut self.uses));
        for (path, span) in std::mem::take(&mut self.seen) {
            let meant = names.meant(&path);
            if let Some(denied) = self.paths.iter().find(|denied| meant.contains(*denied)) {
                self.deny(&denied.join("::"), "it is denied; do without it", span);
            }
        }
        self.found.sort_by_key(|found| (found.line, found.column));
        self.found.dedup();
        self.found
    }

    fn deny(&mut self, construct: &str, reason: &str, at: Span) {
        let (path, start) = (self.path.to_owned(), at.start());
        let (construct, reason) = (construct.to_owned(), reason.to_owned());
        self.found.push(RefusedConstruct { path, line: start.line, column: start.column + 1, construct, reason });
    }
}

/// The meanings of the file's names, as far as they lead to denied paths. A meaning is a prefix of a denied path, or the whole
/// path. The empty prefix stands for the file's own names.
#[derive(Default)]
struct Names {
    denied: BTreeSet<Vec<String>>,
    beginnings: BTreeSet<Vec<String>>,
    modules: BTreeSet<String>,
    names: BTreeMap<String, BTreeSet<Vec<String>>>,
    /// The paths of glob imports.
    globs: BTreeSet<Vec<String>>,
}

impl Names {
    fn of(paths: &[Vec<String>], modules: BTreeSet<String>, uses: Vec<(Option<String>, Vec<String>)>) -> Self {
        let beginnings = paths.iter().flat_map(|path| (1..=path.len()).map(|length| path[..length].to_vec())).collect();
        let denied = paths.iter().cloned().collect();
        let mut names = Self { denied, beginnings, modules, ..Self::default() };
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, (_, path)) in uses.iter().enumerate() {
            for name in path {
                by_name.entry(name).or_default().push(at);
            }
        }
        // When a name gets a further meaning, every `use` that contains the name is processed again.
        let mut waiting: Vec<usize> = (0..uses.len()).collect();
        while let Some((name, path)) = waiting.pop().map(|at| &uses[at]) {
            let meant = names.meant(path);
            match name {
                Some(name) => {
                    let known = names.names.entry(name.clone()).or_default();
                    let before = known.len();
                    known.extend(meant);
                    if known.len() > before {
                        waiting.extend(by_name.get(name.as_str()).into_iter().flatten());
                    }
                }
                None => {
                    let before = names.globs.len();
                    names.globs.extend(meant.into_iter().filter(|path| !path.is_empty()));
                    if names.globs.len() > before {
                        waiting.extend(0..uses.len());
                    }
                }
            }
        }
        names
    }

    fn meant(&self, path: &[String]) -> BTreeSet<Vec<String>> {
        let mut meant = BTreeSet::from([Vec::new()]);
        for (at, name) in path.iter().enumerate() {
            let direct = (at == 0).then(|| plain(vec![name.clone()]));
            let below = meant.iter().flat_map(|before| self.below(before, name)).chain(direct);
            meant = below.filter(|path| path.is_empty() || self.beginnings.contains(path)).collect();
            if meant.is_empty() {
                break;
            }
        }
        meant
    }

    /// The meanings of a name below a path with the meaning `before`.
    fn below(&self, before: &[String], name: &str) -> Vec<Vec<String>> {
        let with = |before: &[String]| [before, &[name.to_owned()]].concat();
        if self.denied.contains(before) {
            return vec![before.to_vec()];
        }
        if !before.is_empty() {
            return vec![with(before)];
        }
        let is_own = matches!(name, "crate" | "self" | "super" | "Self") || self.modules.contains(name);
        let own = is_own.then(Vec::new);
        let given = self.names.get(name).into_iter().flatten().cloned();
        given.chain(self.globs.iter().map(|glob| with(glob))).chain(own).collect()
    }
}

/// The names of the path that begins at a token, and the index of the token after it.
fn path_at(tokens: &[TokenTree], mut at: usize) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    while let Some(name) = name_at(tokens, at) {
        let is_keyword = matches!(&tokens[at], TokenTree::Ident(word) if word == "as");
        if is_keyword && !path.is_empty() {
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

/// The path with `core` and `alloc` replaced by `std`, and without empty names.
fn plain(mut path: Vec<String>) -> Vec<String> {
    path.retain(|name| !name.is_empty());
    if let Some(first) = path.first_mut().filter(|first| matches!(first.as_str(), "core" | "alloc")) {
        "std".clone_into(first);
    }
    path
}

/// Whether a path can continue after this token: keywords cannot be part of a path, except those that stand for modules and
/// types.
fn continues(token: &TokenTree) -> bool {
    let TokenTree::Ident(name) = token else { return false };
    let is_module = ["crate", "self", "super", "Self"].iter().any(|word| name == word);
    is_module || syn::parse_str::<syn::Ident>(&name.to_string()).is_ok()
}

/// Whether the word at a token is the name of an attribute: first in its group or after a comma, and followed by nothing, `=` or
/// a comma.
fn is_in_attribute(tokens: &[TokenTree], at: usize) -> bool {
    let is_first = at == 0 || is_mark(tokens.get(at - 1), ',');
    is_first && (tokens.get(at + 1).is_none() || is_mark(tokens.get(at + 1), '=') || is_mark(tokens.get(at + 1), ','))
}

struct Dependency {
    /// The crate's name in the source.
    name: String,
    /// The name of the crate itself.
    package: String,
    offset: usize,
}

/// All dependencies of a manifest, of every kind and target.
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
