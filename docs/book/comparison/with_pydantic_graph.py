import asyncio
from dataclasses import dataclass

from pydantic_graph import End, BaseNode, Graph, GraphBuilder, GraphRunContext, StepContext

SCRIPT = {
    "Write about interlockings.": "A short one",
    "Is this worth reading? A short one": "too short",
    "Write about interlockings, but not: too short.": "Signals and points, at length",
    "Is this worth reading? Signals and points, at length": None,
}


@dataclass
class State:
    topic: str
    visits: int = 0


@dataclass
class Write(BaseNode[State, None, str]):
    topic: str

    async def run(self, ctx: GraphRunContext[State]) -> "Judge":
        ctx.state.visits += 1
        return Judge(SCRIPT[f"Write about {self.topic}."])


@dataclass
class Judge(BaseNode[State, None, str]):
    article: str

    async def run(self, ctx: GraphRunContext[State]) -> "Gate":
        return Gate(self.article, SCRIPT[f"Is this worth reading? {self.article}"])


@dataclass
class Gate(BaseNode[State, None, str]):
    article: str
    rejected: str | None

    async def run(self, ctx: GraphRunContext[State]) -> Write | End[str]:
        if self.rejected is None:
            return End(self.article)
        if ctx.state.visits >= 3:
            raise RuntimeError("three articles were rejected")
        return Write(f"{ctx.state.topic}, but not: {self.rejected}")


def newsroom() -> Graph[State, None, str, str]:
    builder = GraphBuilder(state_type=State, input_type=str, output_type=str)

    @builder.step
    async def begin(ctx: StepContext[State, None, str]) -> Write:
        return Write(ctx.inputs)

    builder.add(
        builder.node(Write), builder.node(Judge), builder.node(Gate),
        builder.edge_from(builder.start_node).to(begin),
    )
    return builder.build()


if __name__ == "__main__":
    article = asyncio.run(newsroom().run(state=State("interlockings"), inputs="interlockings"))
    assert article == "Signals and points, at length", article
