"""The moderation queue and the page of a submission, as a moderator's browser gets them."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from submissions.models import AuditEvent, ReasonTemplate, Report, Submission
from tests.site.make_result import make_document
from tests.site.uploads import Uploader

QUEUE = "/admin/submissions/submission/"


def case(submission: Submission) -> str:
    return f"{QUEUE}{submission.pk}/change/"


def listed(client: Client, address: str = QUEUE) -> list[str]:
    """Runs in the list, from top to bottom."""
    page = client.get(address).content.decode()
    return re.findall(r'<span class="mono">([a-z2-7]{12})</span>', page)


def text(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return str(response.content.decode())


@pytest.fixture
def three(uploader: Uploader) -> list[Submission]:
    """Three uploads of the owner, the first one the youngest."""
    for model in ("qwen3:8b", "llama3.1:8b", "mistral:7b"):
        assert uploader.post(make_document(model_id=model)).status_code == 201
    found = list(Submission.objects.order_by("pk"))
    for days, submission in enumerate(found):
        submission.created_at -= timedelta(days=2 * days)
        submission.save()
    return found


def test_by_default_it_shows_what_waits_the_oldest_first(
    three: list[Submission], moderator: User, moderator_client: Client
) -> None:
    assert listed(moderator_client) == [str(one) for one in reversed(three)]
    three[2].approve(moderator)
    three[1].request_changes(moderator, "Which driver?")
    assert listed(moderator_client) == [str(three[0])]


def test_appeals_answers_and_reports_come_back_into_it(
    three: list[Submission], moderator: User, owner: User, moderator_client: Client
) -> None:
    three[0].reject(moderator, "Too fast.")
    three[1].request_changes(moderator, "Which driver?")
    three[2].approve(moderator)
    assert listed(moderator_client) == []
    three[0].appeal(owner, "It is a 5090.")
    three[1].answer_request(owner, "580.95")
    Report.objects.create(submission=three[2], text="Hm.", kind="other", reporter_hash="a")
    assert set(listed(moderator_client)) == set(map(str, three))
    asked = re.findall(r'class="field-asked">([^<]*)<', text(moderator_client, QUEUE))
    assert sorted(asked) == ["1 report", "answer", "appeal"]
    assert listed(moderator_client, f"{QUEUE}?queue=appeals") == [str(three[0])]
    assert listed(moderator_client, f"{QUEUE}?queue=pending") == [str(three[1])]
    assert listed(moderator_client, f"{QUEUE}?queue=reports") == [str(three[2])]


def test_the_figures_above_it_count(
    three: list[Submission], moderator: User, owner: User, moderator_client: Client
) -> None:
    three[0].reject(moderator, "Too fast.")
    three[0].appeal(owner, "It is a 5090.")
    three[1].request_changes(moderator, "Which driver?")
    page = text(moderator_client, QUEUE)
    tiles = dict(re.findall(r'<a href="(\?[^"]+)"><b>(\d+)</b>', page))
    assert tiles == {
        "?queue=waiting": "2",
        "?queue=pending": "1",
        "?queue=appeals": "1",
        "?queue=reports": "0",
        "?queue=owner": "1",
        "?status__exact=flagged": "0",
    }
    assert "the oldest for 4 days" in page


def test_ones_own_wait_for_somebody_else(
    three: list[Submission], moderator: User, moderator_client: Client
) -> None:
    Submission.objects.filter(pk=three[0].pk).update(owner=moderator)
    assert str(three[0]) not in listed(moderator_client)
    assert str(three[0]) in listed(moderator_client, f"{QUEUE}?queue=all")


def test_it_filters_by_age_severity_and_words(
    three: list[Submission], moderator_client: Client
) -> None:
    newest, middle, oldest = map(str, three)
    for submission in three:
        is_doubtful = submission is three[1]
        doubt = {"severity": "needs_review", "field": "", "sentence": "Hm."}
        submission.findings = [doubt] if is_doubtful else []
        submission.save()
    assert listed(moderator_client, f"{QUEUE}?age=3") == [oldest]
    assert listed(moderator_client, f"{QUEUE}?severity=2") == [middle]
    assert listed(moderator_client, f"{QUEUE}?q=llama3") == [middle]
    assert listed(moderator_client, f"{QUEUE}?q={newest}") == [newest]


@pytest.mark.parametrize("query", ["queue=x", "age=x", "severity=9", "p=0", "o=99"])
def test_a_wrong_choice_breaks_nothing(
    submission: Submission, moderator_client: Client, query: str
) -> None:
    assert moderator_client.get(f"{QUEUE}?{query}", follow=True).status_code == 200


def test_a_longer_queue_takes_no_more_queries(
    three: list[Submission],
    moderator_client: Client,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    moderator_client.get(QUEUE)
    with django_assert_max_num_queries(10):
        assert len(listed(moderator_client)) == 3


@pytest.fixture
def doubtful(uploader: Uploader) -> Submission:
    """An upload with a finding about its first judged trial, and one about its machine."""
    uploader.post(make_document())
    submission = Submission.objects.get()
    index = next(
        place
        for place, trial in enumerate(submission.run.result().trials)
        if trial.suite == "reasonmath"
    )
    submission.findings = [
        {
            "severity": "note",
            "code": "known_device",
            "field": "machine.gpus[0].model",
            "sentence": "The device is in the table.",
            "numbers": {},
        },
        {
            "severity": "needs_review",
            "code": "copied_output",
            "field": f"trials[{index}].output",
            "sentence": "Another account sent the same output.",
            "numbers": {"same_trials": 12},
        },
    ]
    submission.save()
    return submission


def test_a_finding_stands_beside_prompt_output_and_both_verdicts(
    doubtful: Submission, moderator_client: Client
) -> None:
    page = text(moderator_client, case(doubtful))
    index = int(re.findall(r"trials\[(\d+)\]", doubtful.findings[1]["field"])[0])
    trial = doubtful.run.result().trials[index]
    assert trial.output
    box = page[page.index('<section class="box findings"') : page.index('class="box figures"')]
    assert box.index("Another account sent") < box.index("The device is in the table.")
    assert "same trials <b>12</b>" in box
    assert f"Trial {index + 1}: <b>{trial.task_id}</b>" in box
    assert "ANSWER:" in box, "the prompt asks for it"
    assert re.search(r"outcome</th><td><bdi>pass</bdi></td><td><bdi>pass</bdi>", box)
    assert "in the file <b><bdi>RTX 4090</bdi></b>" in box
    assert f"#trial-{index + 1}" in box
    assert f'id="trial-{index + 1}"' in page


def test_a_finding_about_a_whole_suite_does_not_print_its_record(
    doubtful: Submission, moderator_client: Client
) -> None:
    doubtful.findings[0]["field"] = "suites[0]"
    doubtful.save()
    page = text(moderator_client, case(doubtful))
    assert "<code>suites[0]</code>" in page
    assert "in the file" not in page


def test_a_verdict_that_comes_out_otherwise_is_marked(
    doubtful: Submission, moderator_client: Client
) -> None:
    document = make_document()
    index = int(re.findall(r"\d+", doubtful.findings[1]["field"])[0])
    document["trials"][index]["output"] = "ANSWER: nothing of the kind"
    _replace_file(doubtful, document)
    page = text(moderator_client, case(doubtful))
    assert "<td><bdi>fail</bdi> <b>differs</b></td>" in page
    assert "<details open>" in page


def _replace_file(submission: Submission, document: dict[str, Any]) -> None:
    import json
    import zlib

    run = submission.run
    run.result_bytes = zlib.compress(json.dumps(document).encode())
    run.save()


def test_hostile_texts_are_only_text(doubtful: Submission, moderator_client: Client) -> None:
    hostile = "<script>alert(1)</script>\u202e\x1b[31m"
    document = make_document()
    for trial in document["trials"]:
        trial["output"] = hostile
    document["subject"]["model_id"] = "<img src=x>"
    doubtful.findings[0] |= {"field": "<b>x</b>[9999999]", "sentence": hostile}
    doubtful.save()
    _replace_file(doubtful, document)
    Report.objects.create(
        submission=doubtful, text="<script>2</script>", kind="other", reporter_hash="a"
    )
    page = text(moderator_client, case(doubtful))
    for bad in ("<script>alert", "<script>2", "<img src=x>", "<b>x</b>", "\u202e", "\x1b"):
        assert bad not in page
    assert "\\u202e" in page


@pytest.mark.parametrize(
    "finding",
    [
        {},
        {"severity": "grave", "field": "trials[999999].output", "numbers": None},
        {"severity": "refused", "field": "trials[-1]", "sentence": None, "numbers": {"x": None}},
        {"severity": "note", "field": "suites[0].score.deeper[3]", "numbers": {"a": {"b": [1]}}},
        {"severity": "note", "field": "run_id[0]", "numbers": {}},
    ],
)
def test_a_finding_of_any_form_is_shown(
    doubtful: Submission, moderator_client: Client, finding: dict[str, Any]
) -> None:
    doubtful.findings = [finding]
    doubtful.save()
    assert moderator_client.get(case(doubtful)).status_code == 200


def test_the_run_stands_among_the_shown_ones_of_its_stack(
    uploader: Uploader, moderator: User, moderator_client: Client
) -> None:
    for tps in (40.0, 50.0, 60.0):
        uploader.post(make_document(generation_tps=tps, speed_plan="headline"))
        Submission.objects.latest("pk").approve(moderator)
    uploader.post(make_document(generation_tps=100.0, speed_plan="headline", gpu="RTX 3060"))
    Submission.objects.latest("pk").approve(moderator)
    uploader.post(make_document(generation_tps=200.0, speed_plan="headline"))
    page = text(moderator_client, case(Submission.objects.latest("pk")))
    strip = page[page.index("<b>generation</b>") :].split("</figure>")[0]
    assert "this run <b>199</b>" in strip
    assert re.search(r"median 50\.\d \(4\.0 ×\) · 40\.\d to 60\.\d · n = 3", strip)
    assert strip.count("<circle") == 3


def test_the_owners_other_runs_come_with_their_decisions(
    three: list[Submission], moderator: User, moderator_client: Client
) -> None:
    three[1].reject(moderator, "The sensor says 3060.")
    page = text(moderator_client, case(three[0]))
    assert "The sensor says 3060." in page
    assert "1 pending, 1 rejected" in page


def test_trials_come_in_pages(submission: Submission, moderator_client: Client) -> None:
    count = len(submission.run.result().trials)
    assert count > 25
    first, second = (text(moderator_client, f"{case(submission)}?trials={n}") for n in (1, 2))
    assert 'id="trial-25"' in first
    assert 'id="trial-26"' not in first
    assert 'id="trial-26"' in second
    assert moderator_client.get(f"{case(submission)}?trials=x").status_code == 200


def decide(client: Client, submission: Submission, decision: str, **data: Any) -> Any:
    base = {"decision": decision, "version": str(submission.version), "reason": ""}
    return client.post(case(submission), base | data)


def test_a_template_alone_is_the_reason(submission: Submission, moderator_client: Client) -> None:
    decide(moderator_client, submission, "reject", template="impossible-speed")
    submission.refresh_from_db()
    assert submission.reason == ReasonTemplate.objects.get(code="impossible-speed").text
    assert AuditEvent.objects.latest("pk").data["template"] == "impossible-speed"


def test_words_are_added_to_a_template(submission: Submission, moderator_client: Client) -> None:
    decide(moderator_client, submission, "reject", template="impossible-speed", reason="By far.")
    submission.refresh_from_db()
    assert submission.reason.endswith("explains it. By far.")


def test_a_template_with_blanks_comes_back_to_be_filled_in(
    submission: Submission, moderator_client: Client
) -> None:
    page = decide(moderator_client, submission, "reject", template="copied-run").content.decode()
    submission.refresh_from_db()
    assert submission.status == "pending"
    assert "Replace {which run}" in page
    area = re.search(r"<textarea name=\"reason\"[^>]*>\s*(.*?)</textarea>", page, re.DOTALL)
    assert area
    assert area[1] == "The trials were copied from another run: {which run}."
    used = re.search(r'name="used_template" value="([^"]+)"', page)
    assert used
    filled = area[1].replace("{which run}", "abcdefgh2345")
    decide(moderator_client, submission, "reject", reason=filled, used_template=used[1])
    submission.refresh_from_db()
    assert submission.reason == "The trials were copied from another run: abcdefgh2345."
    assert AuditEvent.objects.latest("pk").data["template"] == "copied-run"


def test_a_template_of_another_decision_is_refused(
    submission: Submission, moderator_client: Client
) -> None:
    page = decide(moderator_client, submission, "approve", template="impossible-speed")
    submission.refresh_from_db()
    assert submission.status == "pending"
    assert "This reason is for: Reject" in page.content.decode()


def test_a_retired_template_is_not_offered(
    submission: Submission, moderator_client: Client
) -> None:
    ReasonTemplate.objects.filter(code="impossible-speed").update(is_offered=False)
    assert "impossible-speed" not in text(moderator_client, case(submission))


@pytest.mark.parametrize("original", ["", "no-such-run", "/runs//"])
def test_a_duplicate_needs_an_original(
    submission: Submission, moderator_client: Client, original: str
) -> None:
    decide(moderator_client, submission, "mark_duplicate", reason="Same.", original=original)
    submission.refresh_from_db()
    assert submission.status == "pending"


def test_an_original_may_be_given_as_an_address(
    three: list[Submission], moderator_client: Client
) -> None:
    address = f"https://bench.example/runs/{three[0]}/"
    decide(moderator_client, three[1], "mark_duplicate", reason="Same.", original=address)
    three[1].refresh_from_db()
    assert three[1].duplicate_of == three[0]


def test_a_late_decision_is_told_and_its_words_are_kept(
    submission: Submission, maintainer: User, moderator_client: Client
) -> None:
    seen = str(submission.version)
    submission.reject(maintainer, "The sensor says 3060.")
    response = decide(
        moderator_client, submission, "approve", reason="I read all of it.", version=seen
    )
    page = response.content.decode()
    assert response.status_code == 409
    assert "rejected by maintainer" in page
    assert "The sensor says 3060." in page
    assert "I read all of it." in page
    submission.refresh_from_db()
    assert submission.status == "rejected"


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"decision": "delete"},
        {"decision": "reject", "reason": "x", "version": "x"},
        {"resolve": "x"},
        {"resolve": "99999", "resolution": "x"},
        {"note": ""},
        {"decision": "reject", "reason": "\x00", "template": "\x00", "used_template": "no"},
    ],
)
def test_a_forged_form_is_no_failure_of_the_site(
    submission: Submission, moderator_client: Client, data: dict[str, str]
) -> None:
    assert moderator_client.post(case(submission), data).status_code < 500


@pytest.mark.parametrize("name", ["0", "x", "9" * 30, "history"])
def test_no_such_submission(moderator_client: Client, name: str) -> None:
    assert moderator_client.get(f"{QUEUE}{name}/change/").status_code == 404


def several(client: Client, submissions: list[Submission], action: str, **more: Any) -> Any:
    data = {"action": action, "_selected_action": [one.pk for one in submissions], **more}
    return client.post(QUEUE, data, follow=True)


def test_several_are_decided_with_one_reason(
    three: list[Submission], moderator_client: Client
) -> None:
    page = several(moderator_client, three, "reject", reason="", template="impossible-speed")
    assert set(Submission.objects.values_list("status", flat=True)) == {"rejected"}
    assert "3 done" in page.content.decode()


def test_one_that_cannot_be_changed_holds_up_no_other(
    three: list[Submission], moderator: User, moderator_client: Client
) -> None:
    three[1].reject(moderator, "The sensor says 3060.")
    page = several(moderator_client, three, "reject", reason="Too fast.").content.decode()
    assert f"Unchanged: {three[1]}. The submission is rejected already." in page
    assert "2 done" in page
    assert Submission.objects.get(pk=three[1].pk).reason == "The sensor says 3060."


def test_several_are_decided_against_the_versions_seen(
    three: list[Submission], maintainer: User, moderator_client: Client
) -> None:
    asked = several(moderator_client, three, "approve").content.decode()
    versions = dict(re.findall(r'name="(version-\d+)" value="(\d+)"', asked))
    assert len(versions) == 3
    three[0].flag(maintainer, "Two owners claim it.")
    page = several(moderator_client, three, "approve", reason="Fine.", **versions).content.decode()
    assert f"Unchanged: {three[0]}. It was changed after this page was made" in page
    assert [Submission.objects.get(pk=one.pk).status for one in three] == [
        "flagged",
        "approved",
        "approved",
    ]


def test_several_are_what_the_page_shows(three: list[Submission], moderator_client: Client) -> None:
    page = several(moderator_client, three[:1], "reject", reason="Too fast.", select_across="1")
    assert "page by page" in page.content.decode()
    assert set(Submission.objects.values_list("status", flat=True)) == {"pending"}


def test_a_forged_choice_changes_nothing(submission: Submission, moderator_client: Client) -> None:
    data = {"action": "approve", "_selected_action": ["x", "1' OR 1"], "reason": "Fine."}
    assert moderator_client.post(QUEUE, data, follow=True).status_code == 200
    submission.refresh_from_db()
    assert submission.status == "pending"


def test_every_page_of_it_keeps_the_strict_policy(
    submission: Submission, moderator_client: Client
) -> None:
    for address in (QUEUE, case(submission), "/admin/"):
        response = moderator_client.get(address)
        assert "script-src 'self'" in response.headers["Content-Security-Policy"]
        page = response.content.decode()
        assert not re.search(r"<script(?![^>]*\bsrc=)", page)
        if address != "/admin/":
            assert " style=" not in page


def test_many_findings_of_a_kind_are_folded(doubtful: Submission, moderator_client: Client) -> None:
    count = len(doubtful.run.result().trials)
    doubtful.findings = [
        {"severity": "needs_review", "code": "fast", "field": f"trials[{n}]", "sentence": "Fast."}
        for n in range(count)
    ] + [{"severity": "note", "code": "x", "field": "machine", "sentence": "The only note."}]
    doubtful.save()
    page = text(moderator_client, case(doubtful))
    assert f"{count - 2} more of this kind" in page
    assert page.count("Fast.") == count
    assert page.index("more of this kind") < page.index("The only note.")
