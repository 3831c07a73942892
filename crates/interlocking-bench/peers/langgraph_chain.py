"""A chain of steps whose state gains 270 bytes a step, in LangGraph with its SQLite saver.

Needs `pip install langgraph langgraph-checkpoint-sqlite`; `cargo bench -p interlocking-bench --bench peers` runs it beside
the same chain here. Prints the seconds that it took, and the bytes that it left.
"""

import os
import sqlite3
import sys
import time
from typing import TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    """What travels."""

    limit: int
    entries: list[str]


def entry(step: int) -> str:
    """The same text without repetitions as on the other side."""
    alphabet = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ.0123456789"
    noise = (step * 0x9E3779B97F4A7C15 | 1) % 2**64
    text = []
    while len(text) < 267:
        noise ^= noise << 13 & 2**64 - 1
        noise ^= noise >> 7
        noise ^= noise << 17 & 2**64 - 1
        text.append(alphabet[(noise >> 32) % len(alphabet)])
    return "".join(text)


def step(state: State) -> State:
    """Adds an entry."""
    entries = state["entries"]
    return {"limit": state["limit"], "entries": [*entries, entry(len(entries))]}


def main(directory: str, steps: int) -> None:
    """Runs the chain, with its checkpoints in `directory`."""
    connection = sqlite3.connect(os.path.join(directory, "checkpoints.db"), check_same_thread=False)
    graph = StateGraph(State)
    graph.add_node("step", step)
    graph.add_edge(START, "step")
    graph.add_conditional_edges("step", lambda state: "step" if len(state["entries"]) < state["limit"] else END)
    chain = graph.compile(checkpointer=SqliteSaver(connection))
    started = time.perf_counter()
    config = {"configurable": {"thread_id": "chain"}, "recursion_limit": steps + 10}
    state = chain.invoke({"limit": steps, "entries": []}, config)
    took = time.perf_counter() - started
    assert len(state["entries"]) == steps
    connection.close()
    size = sum(os.path.getsize(os.path.join(directory, name)) for name in os.listdir(directory))
    print(took, size)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
