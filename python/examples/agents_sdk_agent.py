"""An agent of the OpenAI Agents SDK plays an episode.

    MODEL=gpt-x OPENAI_BASE_URL=http://127.0.0.1:8000/v1 OPENAI_API_KEY=... \\
        groundstate episodes try --environment retail_bank -- python agents_sdk_agent.py

Any OpenAI-compatible endpoint will do. The agent is an ordinary one, which knows nothing of Groundstate; `main` gives it a user
to talk to, and tools.
"""

import asyncio
import os

from agents import Agent, OpenAIChatCompletionsModel, Runner, SQLiteSession, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp
from groundstate import Episode
from openai import AsyncOpenAI


class Assistant:
    def __init__(self, instructions, tools):
        model = OpenAIChatCompletionsModel(os.environ["MODEL"], AsyncOpenAI())
        self.agent = Agent("Assistant", instructions=instructions, mcp_servers=[tools], model=model)
        # It is kept in memory.
        self.session = SQLiteSession("1")

    async def answer(self, text):
        return (await Runner.run(self.agent, text, session=self.session)).final_output


async def main():
    # Otherwise the SDK sends traces to OpenAI, whatever the endpoint is.
    set_tracing_disabled(True)
    episode = Episode.from_environment()
    headers = {"Authorization": f"Bearer {os.environ['GROUNDSTATE_TOKEN']}"}
    server = {"url": episode.mcp_url, "headers": headers}
    # By default the SDK waits 5 seconds for a tool. One that a model simulates may take longer.
    async with MCPServerStreamableHttp(server, cache_tools_list=True, client_session_timeout_seconds=90) as tools:
        instructions, user = [message["content"] for message in episode.messages]
        assistant = Assistant(instructions, tools)
        while not episode.ended:
            answer = await assistant.answer(user)
            # Its calls of tools were turns of the episode, too.
            episode.refresh()
            if not episode.ended:
                user = episode.say(answer) or episode.refused


asyncio.run(main())
