//! What a bounded stack promises, checked without knowing how it is built.

use bounded_stack::{BoundedStack, Full};
use proptest::prelude::*;

/// A stack of the given capacity with as many of the values as fit.
fn filled(capacity: usize, values: &[i64]) -> BoundedStack {
    let mut stack = BoundedStack::with_capacity(capacity);
    for value in values.iter().take(capacity) {
        stack.push(*value).expect("there is room");
    }
    stack
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn prop_new_stack_is_empty(capacity in 0_usize..64) {
        let stack = BoundedStack::with_capacity(capacity);
        prop_assert_eq!(stack.heigth(), 0);
        prop_assert_eq!(stack.peek(), None);
    }

    #[test]
    fn prop_pop_undoes_push(values in prop::collection::vec(any::<i64>(), 0..8), value in any::<i64>()) {
        let mut stack = filled(8, &values);
        let before = stack.clone();
        prop_assert_eq!(stack.push(value), Ok(()));
        prop_assert_eq!(stack.pop(), Some(value));
        prop_assert_eq!(stack, before);
    }

    #[test]
    fn prop_full_stack_hands_the_value_back(capacity in 0_usize..8, value in any::<i64>()) {
        let mut stack = filled(capacity, &[7; 8]);
        let before = stack.clone();
        prop_assert_eq!(stack.push(value), Err(Full(value)));
        prop_assert_eq!(stack, before);
    }

    #[test]
    fn prop_height_never_exceeds_capacity(
        capacity in 0_usize..8,
        values in prop::collection::vec(any::<i64>(), 0..16),
    ) {
        let mut stack = BoundedStack::with_capacity(capacity);
        for value in values {
            let _ = stack.push(value);
            prop_assert!(stack.height() <= capacity, "{} values in a stack of {}", stack.height(), capacity);
        }
    }

    #[test]
    fn prop_values_come_out_in_reverse(values in prop::collection::vec(any::<i64>(), 0..16)) {
        let mut stack = filled(16, &values);
        for value in values.iter().rev() {
            prop_assert_eq!(stack.pop(), Some(*value));
        }
        prop_assert_eq!(stack.pop(), None);
    }

    #[test]
    fn prop_peek_changes_nothing(values in prop::collection::vec(any::<i64>(), 0..8)) {
        let stack = filled(8, &values);
        let before = stack.clone();
        prop_assert_eq!(stack.peek(), values.last().copied());
        prop_assert_eq!(stack.peek(), stack.peek());
        prop_assert_eq!(stack, before);
    }
}

#[test]
fn prop_examples() {
    assert_eq!(BoundedStack::with_capacity(3).height(), 0);
    assert_eq!(BoundedStack::with_capacity(0).height(), 0);
    assert_eq!(BoundedStack::with_capacity(0).push(1), Err(Full(1)));
    let mut stack = BoundedStack::with_capacity(1);
    assert_eq!(stack.pop(), None);
    assert_eq!(stack.peek(), None);
    assert_eq!(stack.push(4), Ok(()));
    assert_eq!(stack.push(5), Err(Full(5)));
    assert_eq!(stack.peek(), Some(4));
    assert_eq!(stack.height(), 1);
    assert_eq!(stack.pop(), Some(4));
}
