"""Drives a server with the official Python library: calls tools, prints what came back."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main():
    plan = json.loads(sys.argv[1])
    command, *arguments = plan["command"]
    seen = []

    async def answer(context, parameters):
        from mcp.types import ElicitResult
        seen.append(parameters.message)
        return ElicitResult(action="accept", content={"answer": plan["elicit"]})

    parameters = StdioServerParameters(command=command, args=arguments, env=plan.get("env"), cwd=plan.get("cwd"))
    options = {"elicitation_callback": answer} if "elicit" in plan else {}
    async with stdio_client(parameters) as (read, write):
        async with ClientSession(read, write, **options) as session:
            await session.initialize()
            tools = await session.list_tools()
            results = []
            for name, values in plan["calls"]:
                result = await session.call_tool(name, values)
                results.append(result.model_dump(mode="json", exclude_none=True))
    print(json.dumps({"tools": sorted(tool.name for tool in tools.tools), "results": results, "asked": len(seen)}))


asyncio.run(main())
