//! Tries the changes that an agent says no test detects: each is made in a scratch checkout, built and tested. Mutants of the
//! program's own making are tried too. They are reported, and decide nothing: the verdict is on the changes that the agent names.

use crate::language::Language;
use crate::types::{
    MechanicalMutants, MutantEdit, MutationAdversaryOutput, MutationAdversaryResult, RefutedSurvivor, StackSpec,
    SurvivingMutant,
};
use crate::verdicts::mutation_adversary_result;
use crate::workbench::{Workbench, aside};
use interlocking::code_intelligence::{Symbol, SymbolKind, is_other_python_body};
use interlocking::prelude::NodeError;
use interlocking::rust_source::{Edit, Side, claimed_edit, mutants, refused_constructs, resolve_name, sample};
use interlocking::toolchain::{Checkout, MutantTrials, MutantVerdict};
use interlocking::workspaces::FreshCheckout;
use std::collections::BTreeSet;
use std::iter;
use std::sync::Arc;

impl Workbench {
    /// Tries, one after the other, the changes that an adversary reports, the survivors of `earlier` rounds that still can be
    /// made, and mutants of the program's own making.
    ///
    /// # Errors
    ///
    /// If the checkout cannot be read, or its tests do not pass without any change.
    pub async fn try_mutants(
        &self,
        checked_out: &FreshCheckout,
        spec: &StackSpec,
        output: MutationAdversaryOutput,
        earlier: &[SurvivingMutant],
    ) -> Result<MutationAdversaryResult, NodeError> {
        let language = Language::of_task(spec);
        let wanted = if language == Language::Rust { self.mechanical_mutants() } else { 0 };
        if output.survivors.is_empty() && earlier.is_empty() && wanted == 0 {
            return Ok(mutation_adversary_result(output, Vec::new(), Vec::new(), None, 0));
        }
        let properties = self.test_file(checked_out, spec).await?.unwrap_or_default();
        let names: Vec<String> = properties.tests.iter().map(|property| property.name.clone()).collect();
        let text = checked_out.text(spec.impl_path.in_repository()).await??;
        let text: Arc<str> = text.unwrap_or_default().into();
        let mut trials =
            MutantTrials::begin(self.runner(), Checkout::at(checked_out.path()), spec.known_tests(&names)).await?;
        let functions = match language {
            Language::Rust => Vec::new(),
            Language::Python => self.project_at(checked_out.commit(), spec).await?.symbols().await?.0,
        };
        let code = (&text, &functions[..]);
        let (mut survivors, mut refuted) = (Vec::new(), Vec::new());
        for survivor in &output.survivors {
            match self.tried(&mut trials, code, survivor, spec).await?.map_or_else(Some, refutation) {
                None => survivors.push(survivor.clone()),
                Some(reason) => refuted.push(RefutedSurvivor {
                    function: survivor.function.clone(),
                    description: survivor.description.clone(),
                    reason,
                }),
            }
        }
        let mut tried_again = 0;
        for survivor in earlier {
            let mut reported = output.survivors.iter();
            if reported.any(|other| other.is_same_change(survivor)) {
                continue;
            }
            if let Ok(verdict) = self.tried(&mut trials, code, survivor, spec).await? {
                tried_again += 1;
                survivors.extend(refutation(verdict).is_none().then(|| survivor.clone()));
            }
        }
        let mechanical = match wanted {
            0 => None,
            wanted => Some(try_our_own(&mut trials, spec, &text, wanted).await?),
        };
        Ok(mutation_adversary_result(output, survivors, refuted, mechanical, tried_again))
    }

    /// The result of a reported change, or why it cannot be tried.
    async fn tried(
        &self,
        trials: &mut MutantTrials,
        (text, functions): (&Arc<str>, &[Symbol]),
        survivor: &SurvivingMutant,
        spec: &StackSpec,
    ) -> Result<Result<MutantVerdict, String>, NodeError> {
        Ok(match Language::of_task(spec) {
            Language::Rust => match self.claimed(text, survivor, spec).await? {
                Ok(edit) => Ok(trials.try_edit(&edit).await?),
                Err(reason) => Err(reason),
            },
            Language::Python => match replaced(text, functions, survivor) {
                Ok(changed) => Ok(trials.try_text(spec.impl_path.as_str(), &changed).await?),
                Err(reason) => Err(reason),
            },
        })
    }

    /// The change that an agent reports, or why it cannot be tried.
    async fn claimed(
        &self,
        text: &Arc<str>,
        survivor: &SurvivingMutant,
        spec: &StackSpec,
    ) -> Result<Result<Edit, String>, NodeError> {
        let Some(claim) = survivor.edit.clone() else {
            return Ok(Err("the change is not given, so it cannot be tried".to_owned()));
        };
        let (path, text, function) = (spec.impl_path.clone(), text.clone(), survivor.function.clone());
        let allowed = self.toolchain().source.allow.clone();
        aside(move || {
            let path = path.as_str();
            let edit = claimed_edit(path, &text, &function, &claim.original, &claim.replacement)
                .map_err(|error| error.to_string())?;
            let changed = edit.apply(&text).unwrap_or_default();
            match refused_constructs(path, &changed, Side::Implementation, &allowed) {
                Ok(refused) if refused.is_empty() => Ok(edit),
                Ok(refused) => Err(format!("it could answer for its tests: {}", refused[0])),
                Err(error) => Err(error.to_string()),
            }
        })
        .await
    }
}

/// The text of a file in Python with a change that an agent reports, or why it cannot be tried: it has to be one of the
/// code in the function's body. `functions` are the file's symbols.
fn replaced(text: &str, functions: &[Symbol], survivor: &SurvivingMutant) -> Result<String, String> {
    let SurvivingMutant { function, edit, .. } = survivor;
    let Some(MutantEdit { original, replacement }) = edit else {
        return Err("the change is not given, so it cannot be tried".to_owned());
    };
    let functions = functions.iter().filter(|symbol| symbol.kind == SymbolKind::Function);
    let functions: Vec<_> = functions.map(|symbol| (symbol.name.replace('.', "::"), symbol)).collect();
    let names = functions.iter().map(|(name, _)| name.as_str()).collect::<BTreeSet<_>>();
    let meant = resolve_name(names.into_iter(), &function.replace('.', "::"));
    // The lines of a function, from its name on. An agent decides how many lines the file has, and how many functions.
    let starts: Vec<usize> = iter::once(0).chain(text.match_indices('\n').map(|(end, _)| end + 1)).collect();
    let start_of = |line: u32| starts.get(line as usize).map_or(text.len(), |start| *start);
    let place_of = |symbol: &Symbol| {
        let (first, last) = (start_of(symbol.position.line.saturating_sub(1)), start_of(*symbol.lines.end()));
        first..last.max(first)
    };
    let Some(meant) = meant else {
        let known: BTreeSet<_> = functions.iter().map(|(_, symbol)| symbol.name.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { Vec::from_iter(known).join(", ") };
        return Err(format!("there is no function `{function}`, or several; there are {known}: name one of these"));
    };
    if original.is_empty() {
        return Err(format!("the quotation from `{function}` is empty: quote the code that is replaced"));
    }
    // A property has several functions of one name.
    let places = functions.iter().filter(|(name, _)| name == meant).map(|(_, symbol)| place_of(symbol));
    let hits = places.flat_map(|place| {
        let count = text[place.clone()].matches(original.as_str()).count();
        iter::repeat_n(place, count)
    });
    let place = match &hits.collect::<Vec<_>>()[..] {
        [place] => place.clone(),
        [] => return Err(format!("`{original}` does not stand in `{function}`: quote it as it is written there")),
        hits => {
            let times = hits.len();
            return Err(format!("`{original}` stands {times} times in `{function}`: quote more of what is around it"));
        }
    };
    let changed = text[place.clone()].replacen(original.as_str(), replacement, 1);
    if !is_other_python_body(&text[place.clone()], &changed) {
        return Err(format!("the change leaves the code of `{function}` as it is: give other code than the original"));
    }
    Ok([&text[..place.start], &changed, &text[place.end..]].concat())
}

/// How a change was detected; none if it was not.
fn refutation(verdict: MutantVerdict) -> Option<String> {
    match verdict {
        MutantVerdict::Survived => None,
        MutantVerdict::Caught { by } => {
            let by: Vec<String> = by.iter().map(|name| format!("`{name}`")).collect();
            Some(format!("caught by {}", by.join(", ")))
        }
        MutantVerdict::TimedOut => Some("the tests come to no end with it".to_owned()),
        MutantVerdict::DidNotBuild { .. } => Some("it does not build".to_owned()),
        MutantVerdict::NotCompiled => Some("what it changes is not compiled".to_owned()),
    }
}

async fn try_our_own(
    trials: &mut MutantTrials,
    spec: &StackSpec,
    text: &Arc<str>,
    wanted: usize,
) -> Result<MechanicalMutants, NodeError> {
    let (path, text) = (spec.impl_path.clone(), text.clone());
    // A file that is not Rust has not been built.
    let all = aside(move || mutants(path.as_str(), &text)).await?.unwrap_or_default();
    let mut found = MechanicalMutants { tried: 0, caught: 0, survivors: Vec::new() };
    for mutant in sample(&all, wanted) {
        match trials.try_edit(&mutant.edit).await? {
            MutantVerdict::DidNotBuild { .. } | MutantVerdict::NotCompiled => continue,
            MutantVerdict::Caught { .. } | MutantVerdict::TimedOut => found.caught += 1,
            MutantVerdict::Survived => found.survivors.push(mutant.to_string()),
        }
        found.tried += 1;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{MutationType, PropertySketch, PropertyType};
    use interlocking::code_intelligence::Position;

    const STACK: &str = "class Stack:\n    # Adds a value.\n    def push(self, value):\n        \"\"\"Adds a value, unless it is full.\"\"\"\n        \
        self.items.append(value)  # Adds it.\n\n    def size(self):\n        return len(self.items)\n";

    fn tried(function: &str, original: &str, replacement: &str) -> Result<String, String> {
        let symbol = |name: &str, lines: std::ops::RangeInclusive<u32>| {
            let position = Position { line: *lines.start(), column: 9 };
            Symbol { name: name.to_owned(), kind: SymbolKind::Function, position, lines }
        };
        let survivor = SurvivingMutant {
            function: function.to_owned(),
            mutation_type: MutationType::RemovedCheck,
            description: "d".to_owned(),
            why_dangerous: "w".to_owned(),
            missing_test: "m".to_owned(),
            suggested_prop: PropertySketch {
                name: "prop_limit".to_owned(),
                description: "d".to_owned(),
                invariant: "i".to_owned(),
                property_type: PropertyType::Boundary,
            },
            edit: Some(MutantEdit { original: original.to_owned(), replacement: replacement.to_owned() }),
        };
        replaced(STACK, &[symbol("Stack.push", 3..=5), symbol("Stack.size", 7..=8)], &survivor)
    }

    /// TC-25: in Python, too, only a change of the code in the function's body can be a survivor.
    #[test]
    fn a_change_of_python_is_one_of_its_code() {
        for function in ["Stack.push", "Stack::push", "push"] {
            let changed = tried(function, "append(value)", "append(None)").unwrap();
            assert_eq!(changed, STACK.replace("append(value)", "append(None)"));
        }
        for (original, replacement) in
            [("unless it is full", "always"), ("# Adds it.", ""), ("(self, value)", "(self, value=1)")]
        {
            let refused = tried("push", original, replacement).unwrap_err();
            assert_eq!(refused, "the change leaves the code of `push` as it is: give other code than the original");
        }
        for (function, original, told) in [
            (
                "pop",
                "append(value)",
                "there is no function `pop`, or several; there are Stack.push, Stack.size: name one of these",
            ),
            ("push", "", "the quotation from `push` is empty: quote the code that is replaced"),
            ("push", "len(self.items)", "`len(self.items)` does not stand in `push`: quote it as it is written there"),
            ("push", "value", "`value` stands 3 times in `push`: quote more of what is around it"),
        ] {
            assert_eq!(tried(function, original, "None").unwrap_err(), told);
        }
    }
}
