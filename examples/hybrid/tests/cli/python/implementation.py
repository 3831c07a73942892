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
        return cls(capacity)

    def push(self, value: int) -> None:
        """Puts a value on top; raises `Full` when there is no room."""
        if len(self._items) >= self._capacity:
            raise Full(value)
        self._items.append(value)

    def pop(self) -> int | None:
        """Takes the top value away."""
        return self._items.pop() if self._items else None

    def peek(self) -> int | None:
        """The top value, left where it is."""
        return self._items[-1] if self._items else None

    def height(self) -> int:
        """How many values the stack holds."""
        return len(self._items)
