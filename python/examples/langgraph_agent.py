"""A LangGraph agent plays an episode.

    MODEL=gpt-x OPENAI_BASE_URL=http://127.0.0.1:8000/v1 OPENAI_API_KEY=... \\
        groundstate episodes try --environment retail_bank -- python langgraph_agent.py

Any OpenAI-compatible endpoint will do. The agent is an ordinary one, which knows nothing of Groundstate; `main` gives it a user
to talk to, and tools.
"""

import asyncio
import os

from groundstate import Episode
from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver


class Assistant:
    def __init__(self, instructions, tools):
        model = ChatOpenAI(model=os.environ["MODEL"])
        self.graph = create_agent(model, tools, system_prompt=instructions, checkpointer=InMemorySaver())

    async def answer(self, text):
        said = {"messages": [{"role": "user", "content": text}]}
        state = await self.graph.ainvoke(said, {"configurable": {"thread_id": "1"}})
        return state["messages"][-1].text


async def main():
    episode = Episode.from_environment()
    headers = {"Authorization": f"Bearer {os.environ['GROUNDSTATE_TOKEN']}"}
    server = {"transport": "streamable_http", "url": episode.mcp_url, "headers": headers}
    tools = await MultiServerMCPClient({"groundstate": server}).get_tools()
    instructions, user = [message["content"] for message in episode.messages]
    assistant = Assistant(instructions, tools)
    while not episode.ended:
        answer = await assistant.answer(user)
        # Its calls of tools were turns of the episode, too.
        episode.refresh()
        if not episode.ended:
            user = episode.say(answer) or episode.refused


asyncio.run(main())
