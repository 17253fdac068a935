import pytest

pytest_plugins = ["pytester"]


@pytest.fixture(scope="session")
def broken():
    """A gateway that opens no part before it feeds it."""
    from responses_conformance import Gateway

    with Gateway(faults=["part/before-open"]) as gateway:
        yield gateway
