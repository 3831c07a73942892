from datetime import timedelta

import restate
from restate import RunOptions, TerminalError, Workflow, WorkflowContext

SCRIPT = {
    "Write about interlockings.": "A short one",
    "Is this worth reading? A short one": "too short",
    "Write about interlockings, but not: too short.": "Signals and points, at length",
    "Is this worth reading? Signals and points, at length": None,
}

newsroom = Workflow("newsroom")


async def ask(prompt: str) -> str | None:
    return SCRIPT[prompt]


@newsroom.main()
async def run(ctx: WorkflowContext, topic: str) -> str:
    retries = RunOptions(max_attempts=3, max_duration=timedelta(minutes=10))
    prompt = topic
    for visit in range(3):
        article = await ctx.run_typed(f"write {visit}", ask, retries, prompt=f"Write about {prompt}.")
        rejected = await ctx.run_typed(f"judge {visit}", ask, retries, prompt=f"Is this worth reading? {article}")
        if rejected is None:
            return article
        prompt = f"{topic}, but not: {rejected}"
    raise TerminalError("three articles were rejected")


app = restate.app(services=[newsroom])
