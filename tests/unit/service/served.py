"""What tests of the service share: an application in this process, without a network."""

import asyncio
from contextlib import contextmanager

import httpx

from infinimix import OnlineCRPClassifier
from infinimix.service.access import Access
from infinimix.service.limits import Limits
from infinimix.service.running import ServiceSettings, make_app, make_owner

ROWS = ["red apple", "green apple", "red pear", "fast car", "slow car"] * 4
LABELS = (["fruit"] * 3 + ["car"] * 2) * 4


def text_model():
    return OnlineCRPClassifier(open_world=True, random_state=0)


class Client:
    """Requests to an application, each on an event loop of its own."""

    def __init__(self, app, base="http://localhost:8080"):
        self.app, self.base = app, base

    def many(self, *calls):
        """Send requests at once; each is (method, path, keywords)."""

        async def run():
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url=self.base) as client:
                some = [client.request(method, path, **more) for method, path, more in calls]
                return await asyncio.gather(*some)

        return asyncio.run(run())

    def get(self, path, **more):
        return self.many(("GET", path, more))[0]

    def post(self, path, content, **more):
        return self.many(("POST", path, {"json": content, **more}))[0]


@contextmanager
def serving(folder, make_model=text_model, access=None, limits=None, **more):
    """Yield a client of a service over a folder."""
    settings = ServiceSettings(
        folder, make_model, access=access or Access(), limits=limits or Limits()
    )
    for name, value in more.items():
        setattr(settings, name, value)
    owner = make_owner(settings)
    owner.start()
    owner.ready.wait()
    client = Client(make_app(settings, owner))
    client.owner = owner
    try:
        yield client
    finally:
        owner.stop()
