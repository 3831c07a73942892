"""What a bounded stack promises, checked without knowing how it is built."""

from bounded_stack import BoundedStack, Full
from hypothesis import given
from hypothesis import strategies as st


def filled(capacity: int, values: list[int]) -> BoundedStack:
    """A stack of the given capacity with as many of the values as fit."""
    stack = BoundedStack.with_capacity(capacity)
    for value in values[:capacity]:
        stack.push(value)
    return stack


def refuses(stack: BoundedStack, value: int) -> bool:
    """Whether a stack hands a value back."""
    try:
        stack.push(value)
    except Full as full:
        return full.value == value
    return False


@given(st.integers(0, 63))
def prop_new_stack_is_empty(capacity: int) -> None:
    stack = BoundedStack.with_capacity(capacity)
    assert stack.height() == 0
    assert stack.peek() is None


@given(st.lists(st.integers(), max_size=7), st.integers())
def prop_pop_undoes_push(values: list[int], value: int) -> None:
    stack = filled(8, values)
    stack.push(value)
    assert stack.pop() == value
    assert stack.height() == len(values)


@given(st.integers(0, 7), st.integers())
def prop_full_stack_hands_the_value_back(capacity: int, value: int) -> None:
    stack = filled(capacity, [7] * 8)
    assert refuses(stack, value)
    assert stack.height() == capacity


@given(st.integers(0, 7), st.lists(st.integers(), max_size=15))
def prop_height_never_exceeds_capacity(capacity: int, values: list[int]) -> None:
    stack = BoundedStack.with_capacity(capacity)
    for value in values:
        refuses(stack, value)
        assert stack.height() <= capacity


@given(st.lists(st.integers(), max_size=15))
def prop_values_come_out_in_reverse(values: list[int]) -> None:
    stack = filled(16, values)
    assert [stack.pop() for _ in values] == values[::-1]
    assert stack.pop() is None


@given(st.lists(st.integers(), max_size=7))
def prop_peek_changes_nothing(values: list[int]) -> None:
    stack = filled(8, values)
    assert stack.peek() == (values[-1] if values else None)
    assert stack.height() == len(values)


def prop_examples() -> None:
    assert BoundedStack.with_capacity(3).height() == 0
    assert refuses(BoundedStack.with_capacity(0), 1)
    stack = BoundedStack.with_capacity(1)
    assert stack.pop() is None
    assert stack.peek() is None
    stack.push(4)
    assert refuses(stack, 5)
    assert stack.peek() == 4
    assert stack.pop() == 4
