//! Chooses which calls fail: by their number, role and prompt, or at random from a seed.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::fault::Fault;
use crate::agent::turn::Turn;
use crate::sessions::session::SessionOpKind;

/// Which calls of an agent fail, and how.
///
/// A call gets the fault of the first rule that matches it and is not used up. The same plan and the same calls lead to
/// the same faults.
#[derive(Debug, Clone, Default)]
pub struct FaultPlan {
    rules: Vec<Counted>,
    chance: Option<Chance>,
}

/// A fault, and the conditions for the calls that get it. All conditions must hold.
#[derive(Clone)]
pub struct Rule {
    fault: Fault,
    times: Option<u32>,
    call: Option<u32>,
    role: Option<String>,
    operation: Option<SessionOpKind>,
    contains: Option<String>,
    predicate: Option<Predicate>,
}

type Predicate = Arc<dyn Fn(&Turn) -> bool + Send + Sync>;

/// A rule that was applied less often than planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedRule {
    /// The fault's [name](Fault::name).
    pub fault: &'static str,
    /// How often the rule was applied.
    pub used: u32,
    /// How often the rule should have been applied: its [times](Rule::times), or once for a rule that always applies.
    pub expected: u32,
}

#[derive(Debug, Clone)]
struct Counted {
    rule: Rule,
    used: u32,
}

#[derive(Debug, Clone)]
struct Chance {
    seed: u64,
    percent: u8,
    faults: Vec<Fault>,
}

impl FaultPlan {
    /// A plan without faults.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more rule.
    #[must_use]
    pub fn with(mut self, rule: Rule) -> Self {
        self.rules.push(Counted { rule, used: 0 });
        self
    }

    /// The same, rejecting the next `requests` calls because there are too many (HTTP 429).
    #[must_use]
    pub fn with_rate_limiting(self, requests: u32, retry_after: Option<Duration>) -> Self {
        self.with(Rule::new(Fault::RateLimited { retry_after }).times(requests))
    }

    /// The same, with one of `faults` in about `percent` percent of the calls that match no rule. The seed and the
    /// call's number determine which calls fail, and with which faults.
    ///
    /// # Panics
    ///
    /// If `faults` is empty.
    #[must_use]
    pub fn with_random(mut self, seed: u64, percent: u8, faults: impl Into<Vec<Fault>>) -> Self {
        let faults = faults.into();
        assert!(!faults.is_empty(), "a plan with random faults names at least one");
        self.chance = Some(Chance { seed, percent, faults });
        self
    }

    /// The fault of a call, which uses up the rule.
    pub(super) fn next_fault(&mut self, call: u32, turn: &Turn) -> Option<Fault> {
        let fitting = self.rules.iter_mut().find(|counted| counted.applies(call, turn));
        if let Some(counted) = fitting {
            counted.used += 1;
            return Some(counted.rule.fault.clone());
        }
        self.chance.as_ref()?.next_fault(call).filter(|fault| fault.fits(turn))
    }

    pub(super) fn unused(&self) -> Vec<UnusedRule> {
        let rules = self.rules.iter().map(|counted| UnusedRule {
            fault: counted.rule.fault.name(),
            used: counted.used,
            expected: counted.rule.times.unwrap_or(1),
        });
        rules.filter(|rule| rule.used < rule.expected).collect()
    }
}

impl Rule {
    /// A rule that injects the fault into one call: the first one, unless the other methods restrict the calls.
    pub fn new(fault: Fault) -> Self {
        let (call, role, operation, contains, predicate) = Default::default();
        Self { fault, times: Some(1), call, role, operation, contains, predicate }
    }

    /// The rule applies to this many calls; the default is one.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self { times: Some(times), ..self }
    }

    /// The rule applies to every matching call.
    #[must_use]
    pub fn always(self) -> Self {
        Self { times: None, ..self }
    }

    /// The rule applies only to the call with this number. Every call of the agent counts, and the first is 1.
    #[must_use]
    pub fn on_call(self, call: u32) -> Self {
        Self { call: Some(call), ..self }
    }

    /// The rule applies only to calls in this [role](Turn::role).
    #[must_use]
    pub fn in_role(self, role: impl Into<String>) -> Self {
        Self { role: Some(role.into()), ..self }
    }

    /// The rule applies only to calls with this session operation.
    #[must_use]
    pub fn on_operation(self, operation: SessionOpKind) -> Self {
        Self { operation: Some(operation), ..self }
    }

    /// The rule applies only to calls whose prompt contains this text.
    #[must_use]
    pub fn on_prompt(self, contains: impl Into<String>) -> Self {
        Self { contains: Some(contains.into()), ..self }
    }

    /// The rule applies only to calls for which the predicate holds.
    #[must_use]
    pub fn when(self, predicate: impl Fn(&Turn) -> bool + Send + Sync + 'static) -> Self {
        Self { predicate: Some(Arc::new(predicate)), ..self }
    }

    fn fits(&self, call: u32, turn: &Turn) -> bool {
        self.call.is_none_or(|wanted| wanted == call)
            && self.role.as_ref().is_none_or(|wanted| turn.role.as_ref() == Some(wanted))
            && self.operation.is_none_or(|wanted| wanted == turn.session.kind())
            && self.contains.as_ref().is_none_or(|wanted| turn.prompt.contains(wanted))
            && self.predicate.as_ref().is_none_or(|holds| holds(turn))
            && self.fault.fits(turn)
    }
}

impl Counted {
    fn applies(&self, call: u32, turn: &Turn) -> bool {
        self.rule.times.is_none_or(|times| self.used < times) && self.rule.fits(call, turn)
    }
}

impl Chance {
    fn next_fault(&self, call: u32) -> Option<Fault> {
        let drawn = mixed(self.seed ^ mixed(call.into()));
        let is_drawn = drawn % 100 < u64::from(self.percent);
        is_drawn.then(|| self.faults[(drawn / 100 % self.faults.len() as u64) as usize].clone())
    }
}

/// SplitMix64: every bit of the result depends on every bit of the number.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl fmt::Debug for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rule = formatter.debug_struct("Rule");
        rule.field("fault", &self.fault).field("times", &self.times).field("call", &self.call);
        rule.field("role", &self.role).field("operation", &self.operation).field("contains", &self.contains);
        rule.field("predicate", &self.predicate.is_some()).finish()
    }
}
