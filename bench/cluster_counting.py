"""A cluster of this machine, and the bytes that its processes send."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Counter:
    """Bytes that this process writes to sockets, and those of messages that it reads."""

    def __init__(self) -> None:
        self.sent = self.received = 0

    @contextmanager
    def counting(self) -> Iterator[None]:
        from distributed.comm import tcp
        from distributed.comm.tcp import TCP

        write, read = TCP.write, tcp.read_bytes_rw

        async def count(comm: Any, *args: Any, **options: Any) -> Any:
            n = await write(comm, *args, **options)
            self.sent += n or 0
            return n

        async def count_read(stream: Any, n: int) -> Any:
            self.received += n
            return await read(stream, n)

        TCP.write, tcp.read_bytes_rw = count, count_read
        try:
            yield
        finally:
            TCP.write, tcp.read_bytes_rw = write, read


@contextmanager
def start_cluster(n_workers: int) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        yield client


def sent_by_workers(dask_worker: Any) -> int:
    """Return what a worker has sent so far; for `client.run`."""
    return int(dask_worker.transfer_outgoing_bytes_total)
