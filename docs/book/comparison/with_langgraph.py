from typing import TypedDict

from langgraph.graph import END, START, StateGraph

SCRIPT = {
    "Write about interlockings.": "A short one",
    "Is this worth reading? A short one": "too short",
    "Write about interlockings, but not: too short.": "Signals and points, at length",
    "Is this worth reading? Signals and points, at length": None,
}


class State(TypedDict, total=False):
    topic: str
    article: str
    rejected: str | None
    visits: int


def write(state: State) -> State:
    return {"article": SCRIPT[f"Write about {state['topic']}."], "visits": state.get("visits", 0) + 1}


def judge(state: State) -> State:
    return {"rejected": SCRIPT[f"Is this worth reading? {state['article']}"]}


def again(state: State) -> State:
    return {"topic": f"{state['topic']}, but not: {state['rejected']}"}


def gate(state: State) -> str:
    if state["rejected"] and state["visits"] >= 3:
        raise RuntimeError("three articles were rejected")
    return "again" if state["rejected"] else END


graph = StateGraph(State)
graph.add_node("write", write)
graph.add_node("judge", judge)
graph.add_node("again", again)
graph.add_edge(START, "write")
graph.add_edge("write", "judge")
graph.add_conditional_edges("judge", gate)
graph.add_edge("again", "write")

if __name__ == "__main__":
    assert graph.compile().invoke({"topic": "interlockings"})["article"] == "Signals and points, at length"
