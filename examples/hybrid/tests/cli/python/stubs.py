"""A stack of integers that never grows above a height fixed when it is made."""

from __future__ import annotations


class Full(Exception):
    """The stack was full; holds the value that found no room."""

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


class BoundedStack:
    """A last-in, first-out stack with a fixed capacity."""

    def __init__(self, capacity: int) -> None:
        self._items: list[int] = []
        self._capacity = capacity

    @classmethod
    def with_capacity(cls, capacity: int) -> BoundedStack:
        """An empty stack that takes at most `capacity` values; zero is allowed."""
        raise NotImplementedError

    def push(self, value: int) -> None:
        """Puts a value on top; raises `Full` when there is no room."""
        raise NotImplementedError

    def pop(self) -> int | None:
        """Takes the top value away."""
        raise NotImplementedError

    def peek(self) -> int | None:
        """The top value, left where it is."""
        raise NotImplementedError

    def height(self) -> int:
        """How many values the stack holds."""
        raise NotImplementedError
