//! Tries the changes that an agent says no test detects: each is made in a scratch checkout, built and tested. Mutants of the
//! program's own making are tried too. They are reported, and decide nothing: the verdict is on the changes that the agent names.

use crate::language::Language;
use crate::types::{
    MechanicalMutants, MutantEdit, MutationAdversaryOutput, MutationAdversaryResult, RefutedSurvivor, StackSpec,
    SurvivingMutant,
};
use crate::verdicts::mutation_adversary_result;
use crate::workbench::{WorkError, Workbench, aside, read};
use interlocking::rust_source::{Edit, Side, claimed_edit, mutants, refused_constructs, sample};
use interlocking::toolchain::{Checkout, MutantTrials, MutantVerdict};
use interlocking::workspaces::FreshCheckout;
use std::sync::Arc;

impl Workbench {
    /// Tries, one after the other, the changes that an adversary reports, the survivors of `earlier` rounds that still can be
    /// made, and mutants of the program's own making.
    ///
    /// # Errors
    ///
    /// [`WorkError`] if the checkout cannot be read, or its tests do not pass without any change.
    pub async fn try_mutants(
        &self,
        checked_out: &FreshCheckout,
        spec: &StackSpec,
        output: MutationAdversaryOutput,
        earlier: &[SurvivingMutant],
    ) -> Result<MutationAdversaryResult, WorkError> {
        let language = Language::of_task(spec);
        let wanted = if language == Language::Rust { self.mechanical_mutants() } else { 0 };
        if output.survivors.is_empty() && earlier.is_empty() && wanted == 0 {
            return Ok(mutation_adversary_result(output, Vec::new(), Vec::new(), None, 0));
        }
        let properties = self.test_file(checked_out, spec).await?.unwrap_or_default();
        let names: Vec<String> = properties.tests.iter().map(|property| property.name.clone()).collect();
        let text: Arc<str> = read(checked_out, &spec.impl_path).await?.unwrap_or_default().into();
        let mut trials =
            MutantTrials::begin(self.runner(), Checkout::at(checked_out.path()), spec.known_tests(&names)).await?;
        let (mut survivors, mut refuted) = (Vec::new(), Vec::new());
        for survivor in &output.survivors {
            match self.tried(&mut trials, &text, survivor, spec).await?.map_or_else(Some, refutation) {
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
            if let Ok(verdict) = self.tried(&mut trials, &text, survivor, spec).await? {
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
        text: &Arc<str>,
        survivor: &SurvivingMutant,
        spec: &StackSpec,
    ) -> Result<Result<MutantVerdict, String>, WorkError> {
        Ok(match Language::of_task(spec) {
            Language::Rust => match self.claimed(text, survivor, spec).await? {
                Ok(edit) => Ok(trials.try_edit(&edit).await?),
                Err(reason) => Err(reason),
            },
            Language::Python => match replaced(text, survivor) {
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
    ) -> Result<Result<Edit, String>, WorkError> {
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

/// The text with a change that is found by its text alone.
fn replaced(text: &str, survivor: &SurvivingMutant) -> Result<String, String> {
    let Some(MutantEdit { original, replacement }) = &survivor.edit else {
        return Err("the change is not given, so it cannot be tried".to_owned());
    };
    match text.matches(original.as_str()).count() {
        1 if !original.is_empty() && original != replacement => Ok(text.replacen(original.as_str(), replacement, 1)),
        _ => Err(format!("`{original}` does not stand in the file once, or is not changed")),
    }
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
) -> Result<MechanicalMutants, WorkError> {
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
