"""What is no file of a known tool, or comes from somebody who means harm."""

from __future__ import annotations

import contextlib
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_loop.errors import ResultError
from bench_loop.importers import import_file
from bench_loop.importers.building import Wishes
from bench_loop.result.store import MAX_FILE_BYTES

NOTHING = Wishes(model="m")


def refusal(file: Path) -> ResultError:
    with pytest.raises(ResultError) as refused:
        import_file(file, NOTHING)
    return refused.value


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"  \n",
        b"\xff\xfe\x00",
        b"[]",
        b"{}",
        b"null",
        b'{"results": 3, "versions": {}}',
        b"build_commit,build_number\n1,2\n",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"kind":"run","kind":"run"}',
    ],
)
def test_what_cannot_be_read_is_refused_with_a_remedy(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "file.json"
    file.write_bytes(data)
    assert refusal(file).remedy


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "none.json").message
    assert "no plain file" in refusal(tmp_path).message


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "huge.jsonl"
    with file.open("wb") as out:
        out.truncate(MAX_FILE_BYTES + 1)
    assert "is larger than" in refusal(file).message


def test_signs_that_no_terminal_should_get_are_taken_out(tmp_path: Path) -> None:
    file = tmp_path / "evil.jsonl"
    tag = "\x1b[31mred\u202e"
    file.write_text(json.dumps({"kind": "run", "tag": tag, "gen_tps": 1.0, "model": tag}))
    (result,) = import_file(file, Wishes())
    text = result.model_dump_json()
    assert "\\u001b" not in text
    assert "\u202e" not in text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                "results versions config kind tag gen_tps avg_ts n_gen model_filename samples_ts "
                "n_prompt acc,none n-samples date".split()
            )
            | st.text(max_size=5),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


@given(value=json_values)
def test_no_file_ends_in_anything_but_a_result_or_a_refusal(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    file = tmp_path_factory.mktemp("any") / "any.json"
    file.write_text(json.dumps(value), encoding="utf-8", errors="replace")
    with contextlib.suppress(ResultError):
        import_file(file, NOTHING)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_what_windows_powershell_redirects_is_read(tmp_path: Path, encoding: str) -> None:
    row = '{"kind":"run","tag":"\u00e4","gen_tps":41.2,"model":"qwen3-8b"}\r\n'
    file = tmp_path / "redirected.jsonl"
    file.write_bytes((row * 2).encode(encoding))
    (result,) = import_file(file, Wishes())
    assert result.imported is not None
    assert result.imported.samples == {"generation": (41.2, 41.2)}


def test_a_packed_file_is_told_as_that(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_bytes(gzip.compress(b"{}"))
    with pytest.raises(ResultError, match="is packed"):
        import_file(file, Wishes())
