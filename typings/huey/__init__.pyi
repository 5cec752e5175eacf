"""Types of the parts of huey 3 that BenchLoop uses; huey itself carries none."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Generic, ParamSpec, TypeVar

from huey.consumer import Consumer

P = ParamSpec("P")
R = TypeVar("R")

class TaskWrapper(Generic[P, R]):
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Result | None: ...
    def call_local(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    def schedule(
        self,
        args: Iterable[Any] | None = ...,
        kwargs: dict[str, Any] | None = ...,
        eta: datetime | None = ...,
        delay: float | None = ...,
    ) -> Result | None: ...

class Result:
    id: str
    def get(self, blocking: bool = ..., timeout: float | None = ...) -> Any: ...

class Huey:
    name: str
    immediate: bool
    def __init__(
        self,
        name: str = ...,
        results: bool = ...,
        store_none: bool = ...,
        utc: bool = ...,
        immediate: bool = ...,
        **storage_kwargs: Any,
    ) -> None: ...
    def task(
        self,
        retries: int = ...,
        retry_delay: float = ...,
        priority: int | None = ...,
        expires: float | datetime | None = ...,
    ) -> Callable[[Callable[P, R]], TaskWrapper[P, R]]: ...
    def periodic_task(
        self, validate_datetime: Callable[[datetime], bool]
    ) -> Callable[[Callable[P, R]], TaskWrapper[P, R]]: ...
    def create_consumer(self, **options: Any) -> Consumer: ...
    def pending_count(self) -> int: ...
    def flush(self) -> None: ...

class SqliteHuey(Huey): ...
class RedisHuey(Huey): ...
class MemoryHuey(Huey): ...

def crontab(
    minute: str = ..., hour: str = ..., day: str = ..., month: str = ..., day_of_week: str = ...
) -> Callable[[datetime], bool]: ...
