"""What is taken out of the copy that is sent, and that no verdict changes by it unseen."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.engine.rescore import rescore
from bench_loop.engine.shelf import Shelf
from bench_loop.privacy import Person
from bench_loop.result.fingerprint import fingerprint, fingerprinted
from bench_loop.result.records import Artifact, RunResult, Trial
from bench_loop.result.signature import signed, signer_of
from bench_loop.result.store import to_bytes
from bench_loop.submit.scrub import Scrubbed, scrub, wants_sandbox
from tests.site.make_result import make_result, rescored

ANNA = Person(
    frozenset({"annalena", "studio-pc"}), "/home/annalena", frozenset({"my-own-secret-1"})
)
KEY = "sk-" + "aB3d" * 8
KEY_BLOCK = f"-----BEGIN RSA PRIVATE KEY-----\n{'MIIEabcdefgh' * 5}\n-----END RSA PRIVATE KEY-----"


def math_run(**trial: Any) -> RunResult:
    """A run whose first trial has these fields too."""
    return with_trial(make_result(suites=["reasonmath"]), **trial)


def with_trial(made: RunResult, index: int = 0, **changes: Any) -> RunResult:
    trials = list(made.trials)
    trials[index] = trials[index].model_copy(update=changes)
    return rescored(made.model_copy(update={"trials": tuple(trials)}))


def first(made: RunResult) -> Trial:
    return made.trials[0]


def scrubbed(made: RunResult, sandbox: Sandbox | None = None, person: Person = ANNA) -> Scrubbed:
    return scrub(made, to_bytes(made), person, sandbox)


def test_a_result_with_nothing_private_is_sent_as_it_is() -> None:
    made = math_run()
    found = scrubbed(made)
    assert found.result is made
    assert (found.taken, found.left, found.changed) == ((), (), ())


@pytest.mark.parametrize(
    ("private", "put", "kind"),
    [
        ("/home/annalena/notes/a.txt", "~/notes/a.txt", "home folder"),
        ("/home/max/a.txt", "~/a.txt", "home folder"),
        ("/home/alice/a.txt", "~/a.txt", "home folder"),
        ("/Users/mueller/a", "~/a", "home folder"),
        ("C:\\Users\\mueller\\a", "~\\a", "home folder"),
        ("at studio-pc", "at <name>", "user or host name"),
        ("DESKTOP-AB12CD3", "<name>", "user or host name"),
        ("annas-macbook.fritz.box", "<name>", "user or host name"),
        ("http://nas.local:8080/", "http://<name>:8080/", "user or host name"),
        ("192.168.1.50", "<address>", "hardware or network address"),
        ("a4:83:e7:12:34:56", "<address>", "hardware or network address"),
        (
            "GPU-00000000-1111-2222-3333-444444444444",
            "<address>",
            "hardware or network address",
        ),
        ("00000000-1111-2222-3333-444444444444", "<serial>", "serial number"),
        ("Serial Number: C02XXXX1234", "Serial<serial>", "serial number"),
        (KEY, "<key>", "key"),
        ("my-own-secret-1", "<key>", "key"),
        (KEY_BLOCK, "<key>", "key"),
    ],
)
def test_private_text_of_a_model_is_taken_out(private: str, put: str, kind: str) -> None:
    thinking = f"I see {private} there."
    found = scrubbed(math_run(thinking=thinking))
    assert first(found.result).thinking == f"I see {put} there."
    assert found.counts == {kind: 1}
    assert found.result.scrubbed is not None
    assert found.result.scrubbed.counts == {kind: 1}
    assert found.changed == ()


def test_an_output_is_judged_again_and_keeps_its_verdict() -> None:
    made = math_run()
    output = f"In /home/annalena/a.py:\n{first(made).output}"
    found = scrubbed(with_trial(made, output=output))
    after = first(found.result)
    assert after.output == f"In ~/a.py:\n{first(made).output}"
    assert (after.outcome, after.score, after.answer) == ("pass", 1.0, first(made).answer)
    assert found.changed == ()


def test_what_is_sent_is_what_judging_it_gives() -> None:
    """The site finds nothing else in it than this machine did."""
    made = make_result(suites=["instructfollow", "reasonmath"])
    for index in (0, len(made.trials) - 1):
        made = with_trial(made, index, output="I cannot; ask annalena at 192.168.1.50.")
    made = rescore(made).after.model_copy(update={"rescored": None})
    found = scrubbed(fingerprinted(made))
    assert found.counts == {"user or host name": 3, "hardware or network address": 3}
    assert rescore(found.result).after is found.result


def test_the_answer_that_is_read_is_that_of_the_copy() -> None:
    made = math_run()
    made = rescore(with_trial(made, output="ANSWER: 192.168.1.50")).after
    assert "192.168.1.50" in str(first(made).answer)
    found = scrubbed(made)
    assert "192.168" not in found.result.model_dump_json()
    assert rescore(found.result).after is found.result


def test_a_fail_for_another_reason_is_told_and_stays_a_fail() -> None:
    made = make_result(suites=["instructfollow"])
    place = next(i for i, one in enumerate(made.trials) if one.task_id.endswith(".choir-list"))
    lines = str(made.trials[place].output).split("\n")
    output = "\n".join([KEY_BLOCK, *lines[1:]])
    made = rescore(with_trial(made, place, output=output)).after
    assert made.trials[place].reason == "line_count"
    found = scrubbed(made)
    assert found.changed == ()
    assert [(one.before, one.after) for one in found.reworded] == [
        ("fail (line_count)", "fail (wrong_line:1)")
    ]
    assert rescore(found.result).after is found.result


def code_run(test: str) -> RunResult:
    """A run of which one function only works where this line holds."""
    made = make_result(suites=["coding"])
    output = str(first(made).output)
    end = output.rindex("```")
    return with_trial(made, output=f"{output[:end]}\n{test}\n{output[end:]}")


def test_code_that_rests_on_private_text_cannot_be_sent_without_it(sandbox: Sandbox) -> None:
    made = code_run('assert len("/home/annalena/models") == 21')
    found = scrubbed(made, sandbox)
    assert [(one.field, one.before) for one in found.changed] == [("trials[0].outcome", "pass")]
    assert str(found.changed[0].after).startswith("fail")


def test_code_that_does_not_keeps_its_verdict(sandbox: Sandbox) -> None:
    found = scrubbed(code_run('"/home/annalena/models"'), sandbox)
    assert found.changed == ()
    assert "annalena" not in found.result.model_dump_json()


def test_without_a_sandbox_verdicts_on_code_cannot_be_told() -> None:
    made = code_run('"/home/annalena/models"')
    assert wants_sandbox(made, ANNA)
    assert [(one.before, one.after) for one in scrubbed(made).changed] == [(None, None)]


def test_a_run_of_another_pack_cannot_be_judged_again() -> None:
    made = math_run(output="annalena")
    suites = tuple(
        suite.model_copy(update={"pack_hash": "sha256:" + "1" * 64}) for suite in made.suites
    )
    found = scrubbed(fingerprinted(made.model_copy(update={"suites": suites})))
    assert [one.before for one in found.changed] == [None]


@pytest.mark.parametrize(
    ("fields", "gone"),
    [
        ({"subject": {"model_id": "/home/annalena/models/a.gguf"}}, "annalena"),
        ({"machine": {"machine_label": "rig of Annalena"}}, "Annalena"),
        ({"machine": {"listener": "ssh -L anna@10.1.2.3"}}, "10.1.2.3"),
        ({"subject": {"launch_args": ("--api-key=abcdefgh",)}}, "abcdefgh"),
        ({"subject": {"launch_untold": "mail anna@firm.com"}}, "anna@firm.com"),
        ({"status_reason": "see /root/.. on 8.8.4.4"}, "8.8.4.4"),
    ],
)
def test_what_machine_and_server_say_is_cleaned_too(fields: dict[str, Any], gone: str) -> None:
    made = math_run()
    for name, value in fields.items():
        part = getattr(made, name)
        update = part.model_copy(update=value) if isinstance(value, dict) else value
        made = made.model_copy(update={name: update})
    found = scrubbed(fingerprinted(made))
    assert gone not in found.result.model_dump_json()
    assert found.left == ()
    assert found.changed == ()


def test_a_transcript_is_cleaned_of_all_that_might_be_private() -> None:
    said = {"role": "tool", "content": "token=abcdefgh from 8.8.4.4 by anna@firm.com"}
    found = scrubbed(math_run(transcript=(said,)))
    transcript = first(found.result).transcript
    assert transcript is not None
    assert transcript[0]["content"] == "<key> from <address> by <e-mail>"


def test_the_words_of_the_task_itself_are_nobodys_secret() -> None:
    """Of a user who is called like somebody in the task, only the home folder goes."""
    made = make_result(suites=["reasonmath"])
    task = Shelf().pack("reasonmath").tasks[0]
    word = max(task.messages[0].content.replace(".", "").split(), key=len).lower()
    person = Person(frozenset({word}), f"/home/{word}")
    output = f"The {word} is in /home/{word}/x.\n{made.trials[0].output}"
    place = next(i for i, one in enumerate(made.trials) if one.task_id == task.id)
    found = scrubbed(with_trial(made, place, output=output), person=person)
    assert str(found.result.trials[place].output).startswith(f"The {word} is in ~/x.")


def test_ids_that_servers_make_up_are_left_in_peace() -> None:
    call = {"id": "00000000-1111-2222-3333-444444444444", "name": "f", "arguments": "{}"}
    document = json.loads(to_bytes(math_run()))
    document["trials"][0]["tool_calls"] = [call]
    made = fingerprinted(RunResult.model_validate_json(json.dumps(document)))
    assert scrubbed(made).taken == ()


def test_a_file_of_the_workspace_has_the_hash_of_what_is_sent() -> None:
    text = "see /home/annalena/x"
    kept = Artifact(path="a.txt", sha256="sha256:" + "2" * 64, size_bytes=len(text), text=text)
    (sent,) = first(scrubbed(math_run(artifacts=(kept,))).result).artifacts
    assert sent.text == "see ~/x"
    assert sent.sha256 == "sha256:" + hashlib.sha256(b"see ~/x").hexdigest()
    assert sent.size_bytes == len("see ~/x")


def test_the_copy_has_a_fingerprint_of_its_own_and_does_not_tell_the_first() -> None:
    made = rescore(math_run(thinking="annalena", outcome="fail", score=0.0)).after
    assert made.rescored is not None
    found = scrubbed(made)
    assert found.result.fingerprint == fingerprint(found.result) != made.fingerprint
    text = found.result.model_dump_json()
    assert made.fingerprint not in text
    assert str(made.rescored.first_fingerprint) not in text


def test_the_same_result_gives_the_same_copy() -> None:
    made = signed(math_run(thinking="annalena"))
    assert to_bytes(scrubbed(made).result) == to_bytes(scrubbed(made).result)


def test_of_a_copy_nothing_more_is_taken() -> None:
    said = {"role": "tool", "content": f"token={KEY} /home/max 8.8.4.4 anna@firm.com {KEY_BLOCK}"}
    made = math_run(thinking=f"{KEY} of annalena in /home/annalena/x", transcript=(said,))
    once = scrubbed(made).result
    assert scrubbed(once).taken == ()


def test_a_signed_result_gives_a_signed_copy_and_another_does_not() -> None:
    made = math_run(thinking="annalena")
    assert scrubbed(made).result.signature is None
    copy = scrubbed(signed(made)).result
    assert signer_of(json.loads(to_bytes(copy))) is not None


def test_a_name_of_a_field_is_private_text_that_cannot_be_taken_out() -> None:
    found = scrubbed(math_run(transcript=({"/home/annalena/x": 1},)))
    assert [one.kind for one in found.left] == ["home folder"]


def test_speed_trials_are_cleaned_and_nothing_of_them_is_judged() -> None:
    made = make_result(suites=["speed"])
    trials = (made.trials[0].model_copy(update={"output": "annalena"}), *made.trials[1:])
    found = scrubbed(fingerprinted(made.model_copy(update={"trials": trials})))
    assert first(found.result).output == "<name>"
    assert found.changed == ()
