"""Files around the code that must agree with it: changelog, compose file, container, makefile."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from understudy import __version__
from understudy.cli import COMMANDS, build_parser
from understudy.config import load_config
from understudy_protocol import DEFAULT_CONTROL, DEFAULT_DOWNLINK, DEFAULT_UPLINK

REPO: Final = Path(__file__).resolve().parents[1]
COMPOSE: Final = REPO / "docker-compose.yml"
DOCKERFILE: Final = REPO / "server" / "Dockerfile"
SHOWS: Final = REPO / "server" / "shows"


def services() -> dict[str, dict[str, Any]]:  # Any: what YAML holds
    content: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(COMPOSE.read_text("utf-8"))
    return content["services"]


def parse(words: list[str]) -> None:
    """Refuse what the real command line would refuse."""
    assert words[0] in COMMANDS
    build_parser(words[0]).parse_args(words)


def test_the_newest_entry_of_the_changelog_is_this_version() -> None:
    versions = re.findall(r"^## \[(.+?)\]", (REPO / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert versions[0] == __version__


def test_the_compose_file_fits_the_schema_of_the_compose_specification() -> None:
    # check-jsonschema ships the schema that the specification publishes.
    result = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec",
         str(COMPOSE)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_schema_check_refuses_a_wrong_compose_file(tmp_path: Path) -> None:
    wrong = tmp_path / "docker-compose.yml"
    text = COMPOSE.read_text("utf-8").replace("healthcheck:", "helthcheck:")
    wrong.write_text(text, encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec",
         str(wrong)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert result.returncode == 1
    assert "helthcheck" in result.stdout


def test_the_compose_file_has_one_image_and_three_services() -> None:
    assert set(services()) == {"server", "performer", "watcher"}
    assert {service["image"] for service in services().values()} == {"understudy"}
    assert [name for name, service in services().items() if "build" in service] == ["server"]
    build = services()["server"]["build"]
    assert (REPO / build["context"] / build["dockerfile"]).resolve() == DOCKERFILE


@pytest.mark.parametrize("name", sorted(services()))
def test_every_command_of_the_compose_file_is_a_real_one(name: str) -> None:
    parse(services()[name]["command"])


def test_the_healthcheck_is_a_real_command() -> None:
    kind, program, *words = services()["server"]["healthcheck"]["test"]
    assert (kind, program) == ("CMD", "understudy")
    parse(words)


def test_the_compose_show_has_the_ports_the_performer_and_the_hosts_that_the_services_use() -> None:
    show = load_config(SHOWS / "compose.toml")
    for address, default in (
        (show.server.input, DEFAULT_UPLINK),
        (show.server.output, DEFAULT_DOWNLINK),
        (show.server.control, DEFAULT_CONTROL),
    ):
        port = default.rpartition(":")[2]
        assert address == f"tcp://0.0.0.0:{port}"
        # Published to this machine only: a server open to everybody is a decision of its owner.
        assert f"127.0.0.1:{port}:{port}" in services()["server"]["ports"]
    play = build_parser("play").parse_args(services()["performer"]["command"])
    assert {session.performer for session in show.sessions} == {play.name}
    assert play.to == "tcp://server:5550"
    watch = build_parser("watch").parse_args(services()["watcher"]["command"])
    assert (watch.downlink, watch.control) == ("tcp://server:5551", "tcp://server:5552")


def test_the_image_runs_as_a_user_of_its_own_with_kernels_for_a_named_cpu() -> None:
    text = DOCKERFILE.read_text("utf-8")
    instructions = re.findall(r"^([A-Z]+) (.*)$", text, re.M)
    order = [word for word, _ in instructions]
    warm = next(i for i, (_, rest) in enumerate(instructions) if rest.startswith("understudy demo"))
    assert order.index("USER") < warm, "kernels must be compiled by the user that runs them"
    assert "NUMBA_CPU_NAME" in text
    assert "NUMBA_CACHE_DIR" in text
    for word, rest in instructions:
        if word == "COPY" and "--chown" not in rest:
            for source in rest.split()[:-1]:
                assert (REPO / source).exists(), f"{source} is copied and does not exist"
        if word == "RUN" and rest.startswith("understudy "):
            parse(rest.split()[1:])


@pytest.mark.parametrize("path", sorted(SHOWS.glob("*.toml")), ids=lambda path: path.name)
def test_every_show_in_the_repository_can_be_read(path: Path) -> None:
    assert load_config(path).sessions


def test_the_extra_called_all_has_every_optional_part_of_the_product() -> None:
    project = tomllib.loads((REPO / "pyproject.toml").read_text("utf-8"))["project"]
    extras = set(project["optional-dependencies"]) - {"all", "test", "dev"}
    (everything,) = project["optional-dependencies"]["all"]
    assert set(everything.removeprefix("understudy[").removesuffix("]").split(",")) == extras
