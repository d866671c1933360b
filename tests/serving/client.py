"""Drives `stockade mcp serve` by the official Python SDK: client.py MODE STOCKADE ROOT. Prints what each step answered."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult

mode, stockade, root = sys.argv[1:]
answers = {}
asked = []


async def elicited(context, params):
    asked.append(params.message)
    return ElicitResult(action="accept", content={"answer": answers["next"]})


def told(result):
    texts = [block.text for block in result.content if block.type == "text"]
    links = [block.uri for block in result.content if block.type == "resource_link"]
    return {"error": result.is_error, "texts": texts, "links": links, "data": result.structured_content}


async def main():
    steps = {}
    server = StdioServerParameters(
        command=stockade, args=["mcp", "serve", "--ceiling", "readonly", "--root", root], cwd=root
    )
    async with Client(server, mode=mode, elicitation_callback=elicited) as client:
        steps["version"] = client.protocol_version
        steps["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        progress = []

        async def on_progress(progressed, total, message):
            progress.append(progressed)

        call = client.call_tool
        steps["allowed"] = told(await call("run_command", {"argv": ["cat", "data/a.txt"]}))
        answers["next"] = "no"
        steps["refused"] = told(await call("run_command", {"argv": ["cp", "data/a.txt", "out.txt"]}))
        answers["next"] = "once"
        steps["approved"] = told(await call("run_command", {"argv": ["cp", "data/a.txt", "out.txt"]}))
        answers["next"] = "all-asked"
        several = {"command": "echo 1 > one; echo 2 > two", "grants": {"write": ["one", "two"]}}
        before = len(asked)
        steps["several"] = told(await call("run_command", several))
        steps["several-questions"] = len(asked) - before
        slow = {"argv": ["sleep", "1.3"]}
        await call("run_command", slow, progress_callback=on_progress)
        steps["progress"] = progress
        code = "print(open('data/a.txt').read())"
        steps["script"] = told(await call("run_script", {"language": "python", "code": code}))
        steps["infer"] = told(await call("infer_permissions", {"language": "python", "code": code}))
        steps["check"] = told(await call("check", {"command": "git status"}))
        run = steps["refused"]["data"]["run"]
        steps["explain"] = told(await call("explain_denial", {"run": run}))
        report = await client.read_resource(steps["refused"]["links"][0])
        steps["report"] = json.loads(report.contents[0].text)
        steps["wrong"] = told(await call("run_command", {"argv": ["true"], "profile": "trusted"}))
    steps["questions"] = asked
    json.dump(steps, sys.stdout)


asyncio.run(main())
