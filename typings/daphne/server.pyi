from collections.abc import Callable
from typing import Any

class Server:
    def __init__(
        self,
        application: Any,
        endpoints: list[str] | None = ...,
        signal_handlers: bool = ...,
        ready_callable: Callable[[], None] | None = ...,
        verbosity: int = ...,
        server_name: str = ...,
        websocket_max_message_size: int = ...,
        websocket_max_frame_size: int = ...,
    ) -> None: ...
    def run(self) -> None: ...
