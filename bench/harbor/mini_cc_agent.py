"""mini-cc as an agent of Harbor (https://harborframework.com), the harness of Terminal-Bench.

    harbor run -d terminal-bench@2.0 -m anthropic/claude-sonnet-4-5 \
        --agent-import-path mini_cc_agent:MiniCcAgent --agent-kwarg package=mini-cc-0.1.0.tgz

Run it from this folder, or with this folder in PYTHONPATH. `package` is what npm installs in the task's container: a
file that `npm pack` made, or the name of a package of the registry with its version.
"""

import json
import os
import shlex
from datetime import datetime, timezone
from pathlib import Path

from harbor.agents.base import BaseAgent
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext

HERE = Path(__file__).parent
FOLDER = "/installed-agent"
# What a model of a provider needs. A variable that is not set here is not passed on.
VARIABLES = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENROUTER_API_KEY",
)
ATIF_VERSION = "ATIF-v1.4"


class MiniCcAgent(BaseAgent):
    """Installs mini-cc in the task's container, and runs it there in print mode without questions."""

    SUPPORTS_ATIF = True

    def __init__(self, *args, package: str, max_turns: int = 200, max_budget_usd: float | None = None, **kwargs):
        """
        package: file from `npm pack` on this machine, or `NAME@VERSION` of the registry.
        max_turns: model calls at most. max_budget_usd: US dollars at most for a task.
        """
        super().__init__(*args, **kwargs)
        self._package = package
        self._limits = ["--max-turns", str(max_turns)]
        if max_budget_usd is not None:
            self._limits += ["--max-budget-usd", str(max_budget_usd)]
        self._version: str | None = None

    @staticmethod
    def name() -> str:
        return "mini-cc"

    def version(self) -> str | None:
        return self._version

    async def setup(self, environment: BaseEnvironment) -> None:
        """Installs Node.js where it is missing, and mini-cc. Raises RuntimeError with the output when that fails."""
        await environment.exec(f"mkdir -p {FOLDER}")
        await environment.upload_file(HERE / "install.sh", f"{FOLDER}/install.sh")
        package = self._package
        if Path(package).is_file():
            await environment.upload_file(Path(package), f"{FOLDER}/mini-cc.tgz")
            package = f"{FOLDER}/mini-cc.tgz"
        installed = await environment.exec(f"sh {FOLDER}/install.sh {shlex.quote(package)} {FOLDER}", timeout_sec=600)
        if installed.return_code != 0:
            raise RuntimeError(f"mini-cc could not be installed: {installed.stdout}{installed.stderr}")
        shown = await environment.exec(f"{FOLDER}/mini-cc --version")
        words = (shown.stdout or "").split()
        self._version = words[-1] if words else None

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        """Runs one task. What mini-cc printed is `mini-cc.jsonl` in the logs, the trajectory `trajectory.json`."""
        self.logs_dir.mkdir(parents=True, exist_ok=True)
        prompt = self.logs_dir / "instruction.txt"
        prompt.write_text(instruction)
        await environment.upload_file(prompt, f"{FOLDER}/instruction.txt")
        flags = ["-p", "--output-format", "stream-json", "--dangerously-skip-permissions", *self._limits]
        if self.model_name:
            # mini-cc names the models of Anthropic without their provider.
            flags += ["--model", self.model_name.removeprefix("anthropic/")]
        command = f"{FOLDER}/mini-cc {shlex.join(flags)} < {FOLDER}/instruction.txt"
        env = {name: os.environ[name] for name in VARIABLES if os.environ.get(name)}
        ended = await environment.exec(command, env=env)
        (self.logs_dir / "mini-cc.jsonl").write_text(ended.stdout or "")
        (self.logs_dir / "mini-cc.stderr").write_text(ended.stderr or "")
        lines = read_lines(ended.stdout or "")
        trajectory = to_trajectory(instruction, lines, self._version)
        (self.logs_dir / "trajectory.json").write_text(json.dumps(trajectory, indent=2))
        metrics = trajectory["final_metrics"]
        context.n_input_tokens = metrics["total_prompt_tokens"]
        context.n_cache_tokens = metrics["total_cached_tokens"]
        context.n_output_tokens = metrics["total_completion_tokens"]
        context.cost_usd = metrics["total_cost_usd"]
        result = next((line for line in lines if line.get("type") == "result"), {})
        context.metadata = {"exit_code": ended.return_code, "subtype": result.get("subtype", "no result")}


def read_lines(text: str) -> list[dict]:
    """Returns the objects of stream-json. A last line that was cut is left out."""
    found = []
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def to_trajectory(instruction: str, lines: list[dict], version: str | None) -> dict:
    """Converts what mini-cc printed into Harbor's format of trajectories (ATIF). Runs of subagents are not steps."""
    own = [line for line in lines if line.get("parent_tool_use_id") is None]
    start = next((line for line in own if line.get("subtype") == "init"), {})
    result = next((line for line in own if line.get("type") == "result"), {})
    now = datetime.now(timezone.utc).isoformat()
    steps = [{"step_id": 1, "timestamp": now, "source": "user", "message": instruction}]
    for line in own:
        content = line.get("message", {}).get("content", [])
        if line.get("type") == "assistant":
            steps.append(to_agent_step(line["message"], len(steps) + 1, now))
        elif line.get("type") == "user" and isinstance(content, list):
            add_results(content, steps)
    usage = result.get("usage", {})
    return {
        "schema_version": ATIF_VERSION,
        "session_id": start.get("session_id") or result.get("session_id") or "unknown",
        "agent": {"name": "mini-cc", "version": version or "unknown", "model_name": start.get("model")},
        "steps": steps,
        "final_metrics": {
            "total_prompt_tokens": count_input(usage),
            "total_completion_tokens": usage.get("output_tokens", 0),
            "total_cached_tokens": usage.get("cache_read_input_tokens", 0),
            "total_cost_usd": result.get("total_cost_usd"),
            "total_steps": len(steps),
        },
    }


def to_agent_step(message: dict, step_id: int, timestamp: str) -> dict:
    blocks = message.get("content", [])
    usage = message.get("usage", {})
    step = {
        "step_id": step_id,
        "timestamp": timestamp,
        "source": "agent",
        "model_name": message.get("model"),
        "message": "\n".join(block["text"] for block in blocks if block.get("type") == "text"),
        "metrics": {
            "prompt_tokens": count_input(usage),
            "completion_tokens": usage.get("output_tokens", 0),
            "cached_tokens": usage.get("cache_read_input_tokens", 0),
        },
    }
    thoughts = "\n".join(block["thinking"] for block in blocks if block.get("type") == "thinking")
    if thoughts:
        step["reasoning_content"] = thoughts
    calls = [
        {"tool_call_id": block["id"], "function_name": block["name"], "arguments": block["input"]}
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    if calls:
        step["tool_calls"] = calls
    return step


def add_results(blocks: list[dict], steps: list[dict]) -> None:
    """Adds results of tools to the step that made the calls."""
    for block in blocks:
        if block.get("type") != "tool_result":
            continue
        called = block["tool_use_id"]
        for step in reversed(steps):
            if any(call["tool_call_id"] == called for call in step.get("tool_calls", [])):
                results = step.setdefault("observation", {"results": []})["results"]
                results.append({"source_call_id": called, "content": to_text(block.get("content", ""))})
                break


def to_text(content) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", f"[{block.get('type')}]") for block in content)


def count_input(usage: dict) -> int:
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return sum(usage.get(name, 0) for name in names)
