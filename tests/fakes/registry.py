"""A registry of packages on loopback: what npm and pip ask of one, for the packages it is given."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote


class FakeRegistry:
    """Serves npm packages and wheels, and counts what was downloaded; a context manager."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}
        self.downloads: list[str] = []
        """Paths of the packages that were fetched."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def settings(self) -> dict[str, str]:
        """Environment variables that make npm and pip ask here, and keep nothing."""
        return {
            "npm_config_registry": self.url,
            "npm_config_fetch_retries": "0",
            "PIP_INDEX_URL": f"{self.url}/simple",
            "PIP_FIND_LINKS": "",
            "PIP_NO_CACHE_DIR": "1",
            "PIP_CONFIG_FILE": "/dev/null",
        }

    def add_npm(self, name: str, version: str, program: str, script: str) -> None:
        """A package whose program `bin/<program>` is the text `script`."""
        manifest = {
            "name": name,
            "version": version,
            "license": "MIT",
            "bin": {program: f"bin/{program}"},
        }
        tarball = _tarball(
            {"package.json": json.dumps(manifest).encode(), f"bin/{program}": script.encode()}
        )
        file = f"/files/{name}-{version}.tgz"
        self._files[file] = tarball
        digest = base64.b64encode(hashlib.sha512(tarball).digest()).decode()
        dist = {"tarball": self.url + file, "integrity": f"sha512-{digest}"}
        packument = {
            "name": name,
            "dist-tags": {"latest": version},
            "versions": {version: {**manifest, "dist": dist}},
        }
        self._files[f"/{name}"] = json.dumps(packument).encode()

    def add_wheel(self, name: str, version: str, metadata: str, code: str) -> None:
        """A distribution whose console script `name` calls `main()` of the module `code`."""
        info = f"{name}-{version}.dist-info"
        wheel = _zip(
            {
                f"{name}.py": code,
                f"{info}/METADATA": (
                    f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{metadata}\n"
                ),
                f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
                f"{info}/entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n",
                f"{info}/RECORD": "",
            }
        )
        file = f"{name}-{version}-py3-none-any.whl"
        self._files[f"/files/{file}"] = wheel
        self._files[f"/simple/{name}/"] = f'<a href="/files/{file}">{file}</a>'.encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = unquote(self.path)
                found = registry._files.get(path)
                if path.startswith("/files/"):
                    registry.downloads.append(path)
                self.send_response(404 if found is None else 200)
                is_page = path.startswith("/simple/")
                self.send_header("Content-Type", "text/html" if is_page else "application/json")
                body = b"{}" if found is None else found
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *words: Any) -> None:
                """Tests have their own words."""

        return Handler


def _tarball(files: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size, entry.mode = len(content), 0o755
            archive.addfile(entry, io.BytesIO(content))
    return made.getvalue()


def _zip(files: Mapping[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return made.getvalue()
