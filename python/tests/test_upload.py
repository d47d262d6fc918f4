# SPDX-License-Identifier: Apache-2.0
"""upload_logs() and session(backend_url=...): what arrives, and that nothing of it can fail a program."""

import pathlib
import sys

import gpufl
import pytest
from conftest import run_python, sessions

sys.path.append(str(pathlib.Path(__file__).parents[2] / "tests" / "e2e"))
from ingest_server import KEY, IngestServer, make_key  # noqa: E402

QUIET = {"backend": gpufl.BackendKind.None_}


@pytest.fixture(autouse=True)
def no_logins(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def server():
    server = IngestServer()
    yield server
    server.close()


def record(logs, **keywords):
    assert gpufl.init(app_name="uploaded", log_path=logs, **QUIET, **keywords)
    with gpufl.Scope("work"):
        pass
    gpufl.shutdown()


def test_sends_the_last_session(logs, server):
    record(logs)
    result = gpufl.upload_logs(backend_url=server.url, api_key=KEY)
    assert (result.success, result.warnings) == (True, [])
    assert result.files_processed > 1
    assert result.events_uploaded > 0
    assert result.bytes_uploaded > 100
    assert result.spool_ids == [sessions(logs)[0].name] == list(server.sessions)
    again = gpufl.upload_logs(logs, backend_url=server.url, api_key=KEY)
    assert (again.success, again.files_processed) == (True, 0)
    assert again.files_skipped_by_cursor == result.files_processed


def test_sends_the_newest_one_or_all(logs, server):
    record(logs)
    record(logs)
    to_server = {"backend_url": server.url, "api_key": KEY}
    assert gpufl.upload_logs(logs, **to_server).success
    assert list(server.sessions) == [sessions(logs)[1].name]
    assert len(gpufl.upload_logs(logs, all_sessions=True, **to_server).spool_ids) == 2


def test_a_session_uploads_itself(logs, server):
    with gpufl.session(log_path=logs, backend_url=server.url, api_key=KEY, **QUIET) as session:
        assert server.requests == [], "nothing while the program works"
    assert list(server.sessions) == [session.log_dir.name]


def test_the_environment_suffices(logs, server):
    code = f"""
import gpufl
with gpufl.session(log_path={str(logs)!r}, backend=gpufl.BackendKind.None_):
    pass
"""
    server.api_path = "/gpufl/api/v1"
    run_python(code, GPUFL_BACKEND_URL=server.url, GPUFL_API_KEY=KEY, GPUFL_API_PATH=server.api_path)
    assert len(server.sessions) == 1


def test_failures_are_warnings(logs, server):
    record(logs)
    revoked = gpufl.upload_logs(backend_url=server.url, api_key=make_key("2"))
    assert not revoked.success
    assert "does not know the key" in revoked.warnings[0]
    server.mischief = lambda query: 503
    busy = gpufl.upload_logs(backend_url=server.url, api_key=KEY, max_retries=0)
    assert (busy.success, len(busy.warnings)) == (False, 1)
    assert not gpufl.upload_logs("absent", backend_url=server.url, api_key=KEY).success
    for wrong in ({"log_path": 3}, {"total_timeout_ms": "long"}, {"api_key": b"k"}):
        result = gpufl.upload_logs(**wrong)
        assert not result.success
        assert next(iter(wrong)) in result.warnings[0]


def test_the_key_is_in_no_argument(logs, server):
    record(logs)
    seen = []

    def look(query):
        for command in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                seen.append(command.read_bytes())
            except OSError:
                continue

    server.mischief = look
    assert gpufl.upload_logs(backend_url=server.url, api_key=KEY).success
    assert any(b"gpufl\0upload" in one or b"/gpufl\0" in one for one in seen)
    assert not any(KEY.encode() in one for one in seen)


def test_an_address_of_another_server_gets_no_key(logs, server):
    record(logs, backend_url="https://one.invalid", api_key=KEY)
    result = gpufl.upload_logs(backend_url=server.url)
    assert not result.success
    assert "there is no key for" in result.warnings[0]
    assert server.requests == []


def test_an_address_is_the_same_however_it_is_written(logs, server):
    record(logs, backend_url=server.url + "/", api_key=KEY)
    result = gpufl.upload_logs(backend_url=server.url.replace("http://", "HTTP://"))
    assert result.success, result.warnings


def test_disabled_asks_nobody(logs, server):
    gpufl.init(enabled=False)
    result = gpufl.upload_logs(logs, backend_url=server.url, api_key=KEY)
    assert (result.success, result.events_uploaded, server.requests) == (True, 0, [])
