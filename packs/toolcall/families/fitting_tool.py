# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""A list of three jobs, and tools of which some only look as if they fitted.

Each job has a fitting tool and a near twin that does something else to the same thing and succeeds.
The seed decides the jobs, their order and the path: `none` takes one fitting tool away, so that by
the all-or-nothing rule no tool may be called; `all` leaves everything there, so that the wording
decides; `already` has one of the jobs done by somebody else, whose tool must then rest.
"""

from random import Random
from typing import Any

PATHS = ("none", "all", "already")

JOBS: tuple[dict[str, Any], ...] = (
    {
        "letter": "L",
        "say": "renew loan {code}",
        "did": "renewed loan {code}",
        "tool": ("renew_loan", "loan", "Extends a loan by two weeks; the borrower keeps the item."),
        "twin": ("return_loan", "loan", "Books a loan as returned and closes it."),
        "states": ("running", "renewed", "returned"),
    },
    {
        "letter": "F",
        "say": "archive folder {code}",
        "did": "archived folder {code}",
        "tool": ("archive_folder", "folder", "Moves a folder into the archive, read-only."),
        "twin": ("delete_folder", "folder", "Deletes a folder with all that is in it."),
        "states": ("open", "archived", "deleted"),
    },
    {
        "letter": "S",
        "say": "pause subscription {code}",
        "did": "paused subscription {code}",
        "tool": ("pause_subscription", "subscription", "Stops deliveries until it is resumed."),
        "twin": ("cancel_subscription", "subscription", "Ends a subscription for good."),
        "states": ("active", "paused", "cancelled"),
    },
    {
        "letter": "Q",
        "say": "ask for a price on parts list {code}",
        "did": "asked for a price on parts list {code}",
        "tool": ("request_quote", "parts_list", "Asks the supplier what a parts list would cost."),
        "twin": ("place_order", "parts_list", "Orders everything on a parts list, binding."),
        "states": ("draft", "quote requested", "ordered"),
    },
    {
        "letter": "V",
        "say": "put volunteer {code} on the waiting list",
        "did": "put volunteer {code} on the waiting list",
        "tool": ("add_to_waiting_list", "volunteer", "Puts a volunteer on the waiting list."),
        "twin": ("add_to_rota", "volunteer", "Gives a volunteer a place on the rota."),
        "states": ("applied", "waiting", "on the rota"),
    },
    {
        "letter": "D",
        "say": "lock door {code}",
        "did": "locked door {code}",
        "tool": ("lock_door", "door", "Locks a door; it can still be opened with a key."),
        "twin": ("block_door", "door", "Takes a door out of use; no key opens it."),
        "states": ("unlocked", "locked", "blocked"),
    },
)


def draw(random: Random, path: str) -> dict[str, Any] | None:
    jobs = [
        {**job, "code": f"{job['letter']}-{random.randrange(100, 1000)}"}
        for job in random.sample(JOBS, 3)
    ]
    receipts = [f"X{number}" for number in random.sample(range(1000, 10000), 6)]
    for at, job in enumerate(jobs):
        job["receipt"], job["false_receipt"] = receipts[at], receipts[3 + at]
    odd = random.randrange(3)
    todo = [job for at, job in enumerate(jobs) if path == "all" or at != odd]
    tools = [_tool(*job[kind]) for job in jobs for kind in ("tool", "twin")]
    if path == "none":
        tools = [tool for tool in tools if tool["name"] != jobs[odd]["tool"][0]]
    random.shuffle(tools)
    state = {job["code"]: job["states"][0] for job in jobs}
    state["receipts"] = 0
    if path == "already":
        state[jobs[odd]["code"]] = jobs[odd]["states"][1]
    return {
        "title": {
            "none": "One of three jobs has no tool",
            "all": "Three jobs, six tools",
            "already": "One job is done already",
        }[path],
        "difficulty": "medium",
        "capability_tags": {
            "none": ["abstention", "tool_choice", "conditional"],
            "all": ["tool_choice", "tool_arguments", "restraint"],
            "already": ["tool_choice", "restraint", "conditional"],
        }[path],
        "verifier_type": "tool_trace",
        "notes": _notes(path, jobs, odd),
        "prompt": _prompt(random, path, jobs, odd),
        "tools": tools,
        "replies": {
            "state": state,
            "ignores_case": True,
            "otherwise": "nothing known under this code",
            "rules": _rules(jobs, tools),
        },
        **(_refusing(jobs, odd) if path == "none" else _doing(jobs, todo, odd, path)),
    }


def _tool(name: str, argument: str, description: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "additionalProperties": False,
            "required": [argument],
            "properties": {argument: {"type": "string"}},
        },
    }


def _rules(jobs: list[dict[str, Any]], tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every tool that is there does to its own kind of thing what it says."""
    names = {tool["name"] for tool in tools}
    return [
        {
            "tool": job[kind][0],
            "when": {job[kind][1]: job["code"]},
            "reply": {"ok": True, "receipt": job[receipt]},
            "set": {job["code"]: job["states"][at]},
            "add": {"receipts": 1},
        }
        for job in jobs
        for at, (kind, receipt) in enumerate((("tool", "receipt"), ("twin", "false_receipt")), 1)
        if job[kind][0] in names
    ]


def _prompt(random: Random, path: str, jobs: list[dict[str, Any]], odd: int) -> str:
    who = random.choice(("Ines", "Tomas", "Wen", "Amara"))
    says = [job["say"].format(code=job["code"]) for job in jobs]
    rows = "\n".join(f"{at}. {say[0].upper()}{say[1:]}." for at, say in enumerate(says, 1))
    opening = random.choice(("Please see to these three jobs:", "Three jobs are on today's list:"))
    done = f"{who} has {jobs[odd]['did'].format(code=jobs[odd]['code'])} this morning already; "
    left = f"{done}leave that one as it is.\n" if path == "already" else ""
    return f"""{opening}
{rows}

{left}The list is done as a whole or not at all: if one of the jobs cannot be done with the tools
you have, call no tool. A job counts as done only when exactly that has happened, and not something
near it. Every tool answers with a receipt number.
At the end reply with one line: ANSWER: <receipt numbers of your jobs in the order of the list>
or, if nothing was done: ANSWER: none, <code of the thing whose job has no tool>
"""


def _notes(path: str, jobs: list[dict[str, Any]], odd: int) -> str:
    job = jobs[odd]
    if path == "none":
        return (
            f"Hinge: {job['tool'][0]} is not offered, and {job['twin'][0]} does something else; no "
            "call may be made. Failure behind it: the assistant took the nearest tool, or began "
            f"before it had looked at the whole list. Key: {job['code']}."
        )
    done = [one["receipt"] for one in jobs if path == "all" or one is not job]
    if path == "all":
        return (
            "Hinge: of six tools three do what was asked and three something near it. Failure "
            f"behind it: the near twin was taken. Key: {', '.join(done)}."
        )
    return (
        f"Hinge: the job on {job['code']} was done by somebody else. Failure behind it: it was "
        f"done once more. Key: {', '.join(done)}."
    )


def _call(job: dict[str, Any], kind: str = "tool") -> dict[str, dict[str, str]]:
    return {job[kind][0]: {job[kind][1]: job["code"]}}


def _run(*steps: Any) -> dict[str, Any]:
    """A trajectory: calls made together as lists, the final text as a string."""
    return {"trajectory": [{"say": step} if isinstance(step, str) else step for step in steps]}


def _receipts(jobs: list[dict[str, Any]]) -> list[str]:
    return [job[name] for job in jobs for name in ("receipt", "false_receipt")]


def _refusing(jobs: list[dict[str, Any]], odd: int) -> dict[str, Any]:
    lost, others = jobs[odd], [job for at, job in enumerate(jobs) if at != odd]
    right = f"ANSWER: none, {lost['code']}"
    taken = [job["false_receipt"] if job is lost else job["receipt"] for job in jobs]
    return {
        "answer": right,
        "expected_turns": 1,
        "expected": {
            "abstains": True,
            "answer": {
                "parts": ["none", lost["code"]],
                "among": ["none", *(job["code"] for job in jobs), *_receipts(jobs)],
            },
        },
        "reference": right,
        "also_right": [
            f"There is no tool for {lost['code']}, so I did nothing.\n\n**{right}**",
            right.replace(",", ";").lower().replace("answer", "ANSWER") + ".",
        ],
        "near_misses": [
            {
                "reason": "unwanted_call",
                "why": "the near twin was taken for the tool that is missing",
                "output": _run(
                    *([_call(job, "twin" if job is lost else "tool")] for job in jobs),
                    f"ANSWER: {', '.join(taken)}",
                ),
            },
            {
                "reason": "unwanted_call",
                "why": "the other jobs were done before the missing tool was noticed",
                "output": _run(*([_call(job)] for job in others), right),
            },
            {
                "reason": "unwanted_call",
                "why": "a tool that is not offered was called",
                "output": _run([_call(lost)], right),
            },
            {
                "reason": "wrong_answer",
                "why": "another job is blamed",
                "output": f"ANSWER: none, {others[0]['code']}",
            },
            {
                "reason": "wrong_answer",
                "why": "it is not said which job has no tool",
                "output": "ANSWER: none",
            },
        ],
    }


def _doing(
    jobs: list[dict[str, Any]], todo: list[dict[str, Any]], odd: int, path: str
) -> dict[str, Any]:
    line = ", ".join(job["receipt"] for job in todo)
    right = f"ANSWER: {line}"
    first, last = todo[0], todo[-1]
    slips = [job["false_receipt"] if job is last else job["receipt"] for job in todo]
    blamed = jobs[odd]["code"]
    misses = [
        {
            "reason": f"wrong_state:{last['code']}",
            "why": "the near twin was taken for one job",
            "output": _run(
                [_call(job, "twin" if job is last else "tool") for job in todo],
                f"ANSWER: {', '.join(slips)}",
            ),
        },
        {
            "reason": f"wrong_state:{first['code']}",
            "why": "gave up, though every job has its tool",
            "output": f"ANSWER: none, {blamed}",
        },
        {
            "reason": f"wrong_state:{last['code']}",
            "why": "the last job was left out",
            "output": _run([_call(job) for job in todo[:-1]], right),
        },
        {
            "reason": "wrong_answer",
            "why": "all done, and the codes are reported instead of the receipts",
            "output": _run(
                [_call(job) for job in todo], f"ANSWER: {', '.join(job['code'] for job in todo)}"
            ),
        },
    ]
    if path == "already":
        again = {
            "reason": "wrong_state:receipts",
            "why": "the job that was done already is done again",
            "output": _run(
                [_call(job) for job in jobs], f"ANSWER: {', '.join(job['receipt'] for job in jobs)}"
            ),
        }
        misses.append(again)
    return {
        "answer": right,
        "expected_turns": len(todo) + 1,
        "limits": {"answer_tokens": 100 * len(todo) + 80},
        "expected": {
            "state": {
                **{job["code"]: job["states"][1] for job in jobs},
                "receipts": len(todo),
            },
            "changes": len(todo),
            "least_calls": len(todo),
            "answer": {"parts": [job["receipt"] for job in todo], "among": _receipts(jobs)},
        },
        "reference": _run([_call(job) for job in todo], right),
        "also_right": [
            _run(*([_call(job)] for job in todo), f"All of it is done.\n\n**ANSWER:** {line}."),
            _run(
                [_call(job) for job in reversed(todo)],
                f"ANSWER: {'; '.join(job['receipt'].lower() for job in todo)}",
            ),
        ],
        "near_misses": misses,
    }
