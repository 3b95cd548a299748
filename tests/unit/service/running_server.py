"""A real server on a free port of this machine, in this process."""

import threading
import time
from contextlib import contextmanager
from functools import partial

import httpx

from infinimix.service import running
from infinimix.service.access import Access
from infinimix.service.limits import Limits
from infinimix.service.running import ServiceSettings
from tests.unit.service.served import text_model

#: Certificates are left alone: httpx reads all of them at each call, which takes 30 ms.
get, post = partial(httpx.get, verify=False), partial(httpx.post, verify=False)


@contextmanager
def listening(folder, make_model=text_model, access=None, limits=None, source=None):
    """Yield the address of a service, and its owner."""
    settings = ServiceSettings(folder, make_model, port=0, access=access or Access())
    settings.limits, settings.source = limits or Limits(), source
    told = []
    settings.told = told.append
    owner = running.make_owner(settings)
    server = running.Announcing(running._configure(settings, owner), settings)
    owner.start()
    stopped = threading.Event()
    threads = [threading.Thread(target=server.run)]
    if source is not None:
        threads.append(threading.Thread(target=source.run, args=(owner, stopped)))
    for thread in threads:
        thread.start()
    while not told:
        time.sleep(0.01)
    try:
        yield told[0], owner
    finally:
        stopped.set()
        server.should_exit = True
        for thread in threads:
            thread.join(timeout=20)
        owner.stop()
