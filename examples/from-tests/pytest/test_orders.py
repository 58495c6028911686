"""Starts Sojourn on a journey file and asserts on its JSON report: `pytest`.

SOJOURN says where the program is, when it is not on the PATH.
"""

import contextlib
import functools
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import time

EXAMPLES = pathlib.Path(__file__).resolve().parents[2]
SOJOURN = os.environ.get("SOJOURN", "sojourn")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def shop(port, hooks):
    """The system under test. Yours is there already: leave this out."""
    command = [SOJOURN, "mock", EXAMPLES / "orders-mock.yaml", "--listen", f"127.0.0.1:{port}"]
    environment = {**os.environ, "HOOKS": f"http://127.0.0.1:{hooks}"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait()


@functools.cache
def report():
    """One run for all tests of this file."""
    port, hooks = free_port(), free_port()
    with tempfile.TemporaryDirectory() as folder, shop(port, hooks):
        path = pathlib.Path(folder) / "report.json"
        command = [SOJOURN, "run", EXAMPLES / "from-tests" / "orders.yaml", "--quiet"]
        command += ["--target", f"http://127.0.0.1:{port}", "-e", f"LISTEN=127.0.0.1:{hooks}"]
        command += ["--output", pathlib.Path(folder) / "run.sojourn", "--report", path]
        # 0, 3 (void) and 99 (a threshold failed) leave a report, which says more than a number.
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert ran.returncode in (0, 3, 99, 105), ran.stderr
        return json.loads(path.read_text())


def at(pointer):
    """A value of the report by its JSON pointer."""
    value = report()
    for part in pointer.split("/")[1:]:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def test_the_figures_may_be_believed():
    assert at("/verdict/outcome") not in ("void", "unfinished"), at("/verdict/causes")


def test_every_threshold_held():
    missed = [row["text"] for row in at("/thresholds") if not row["held"]]
    assert not missed, at("/verdict/headline")


def test_no_order_is_lost():
    started = at("/ledger/journeys_total/steady/started")
    assert started > 0
    assert at("/ledger/journeys_total/steady/completed") == started
    assert at("/ledger/journeys_total/steady/lost") == 0


def test_orders_are_shipped_soon():
    assert at("/journeys/0/stages/1/name") == "shipped"
    assert at("/journeys/0/stages/1/hop_ns/p95") < 10_000_000_000
    assert at("/journeys/0/duration_ns/p99") < 15_000_000_000
