"""Show files: what a small one means, and how a wrong one is refused."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from understudy.config import (
    Config,
    ConfigError,
    Settings,
    UdpAddress,
    VmcTarget,
    load_config,
    parse_config,
)

SMALL = """
[[session]]
performer = "alice"
character = "short-legs"
"""


def parse(text: str) -> Config:
    return parse_config(tomllib.loads(text))


def test_a_small_file_gets_defaults_on_loopback() -> None:
    config = parse(SMALL)
    assert config.server.input == "tcp://127.0.0.1:5550"
    assert config.server.output == "tcp://127.0.0.1:5551"
    assert config.server.control == "tcp://127.0.0.1:5552"
    session = config.sessions[0]
    assert (session.performer, session.character) == ("alice", "short-legs")
    assert (session.solver, session.rate_hz, dict(session.parameters)) == ("clik", None, {})
    assert config.character("short-legs").rig == "short-legs"
    assert config.performer("alice").stale_after_s == 0.25


def test_a_full_file_is_read() -> None:
    config = parse(
        """
        [server]
        input = "tcp://0.0.0.0:7000"
        output = "tcp://[::1]:*"
        control = "ipc://show.sock"
        [performers.alice]
        stale_after_s = 1
        ease_s = 0.5
        vmc = "127.0.0.1:39539"
        [performers.bob]
        osc = "[::1]:*"
        [characters.hero]
        rig = "giant"
        vmc_requests = "localhost:39540"
        [[characters.hero.vmc]]
        to = "192.168.0.7:39539"
        [[characters.hero.vmc]]
        to = "127.0.0.1:39541"
        split_root = true
        raw = true
        [[characters.hero.osc]]
        to = "localhost:9000"
        [[session]]
        performer = "alice"
        character = "hero"
        solver = "clik"
        rate_hz = 60
        delay_s = 0.05
        stride = "performed"
        lock_feet = false
        smoothing = 0.5
        hand_contacts = true
        [session.parameters]
        corrections = 2
        [[session]]
        performer = "bob"
        character = "child"
        """
    )
    assert config.server.input == "tcp://0.0.0.0:7000"
    assert config.performer("alice").vmc == UdpAddress("127.0.0.1", 39539)
    assert config.performer("bob").osc == UdpAddress("::1", 0)
    hero = config.character("hero")
    assert hero.vmc == (
        VmcTarget(UdpAddress("192.168.0.7", 39539)),
        VmcTarget(UdpAddress("127.0.0.1", 39541), split_root=True, raw=True),
    )
    assert hero.osc == (UdpAddress("localhost", 9000),)
    assert str(hero.vmc_requests) == "localhost:39540"
    assert config.performer("alice").ease_s == 0.5
    assert config.character("hero").rig == "giant"
    assert config.sessions[0].rate_hz == 60.0
    assert config.sessions[0].delay_s == 0.05
    assert config.sessions[0].parameters == {"corrections": 2}
    assert config.sessions[0].settings == Settings("performed", False, 0.5)
    assert config.sessions[0].hand_contacts
    assert config.sessions[1].performer == "bob"
    assert not config.sessions[1].hand_contacts
    assert config.sessions[1].settings == Settings("scaled", True, 0.0)


def test_a_rig_is_looked_for_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "me.bvh").write_text("", encoding="utf-8")
    show = tmp_path / "show.toml"
    show.write_text(SMALL + '[characters.me]\nrig = "me.bvh"\n', encoding="utf-8")
    assert load_config(show).character("me").rig == str(tmp_path / "me.bvh")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "session: is missing; at least one [[session]] is needed"),
        ("session = 3", "session: is one table; write [[session]], with two brackets"),
        (
            '[session]\nperformer = "a"',
            "session: is one table; write [[session]], with two brackets",
        ),
        (
            "[sever]",
            "sever: is unknown; did you mean 'server'? "
            "allowed: server, performers, characters, session",
        ),
        ("[server]\ninput = 5550", "server.input: 5550; allowed: text"),
        (
            '[server]\noutput = "127.0.0.1:1"',
            "server.output: '127.0.0.1:1'; allowed: tcp://HOST:PORT (PORT * for any free one)"
            " or ipc://PATH",
        ),
        (
            '[server]\noutput = "tcp://127.0.0.1:99999"',
            "server.output: 'tcp://127.0.0.1:99999'; allowed: tcp://HOST:PORT (PORT * for any free"
            " one) or ipc://PATH",
        ),
        (
            '[server]\nimput = "x"',
            "server.imput: is unknown; did you mean 'input'? allowed: input, output, control",
        ),
        ("performers = 1", "performers: 1 is not a table"),
        (
            "[performers.bob]\nease_s = -1",
            "performers.bob.ease_s: -1; allowed: a number from 0 to 10",
        ),
        (
            '[performers.bob]\nvmc = "39539"',
            "performers.bob.vmc: '39539'; allowed: HOST:PORT (PORT * for any free one)",
        ),
        (
            '[performers.bob]\nvmc = "::1:99999"',
            "performers.bob.vmc: '::1:99999'; allowed: HOST:PORT (PORT * for any free one)",
        ),
        (
            '[performers.bob]\nvmc = "a:1"\nosc = "a:2"',
            "performers.bob: has both vmc and osc; a performer speaks one",
        ),
        (
            '[characters.a.vmc]\nto = "h:1"',
            "characters.a.vmc: is one table; write [[characters.a.vmc]], with two brackets",
        ),
        (
            '[[characters.a.vmc]]\nto = "h:*"',
            "characters.a.vmc[0].to: 'h:*'; allowed: HOST:PORT",
        ),
        (
            '[[characters.a.vmc]]\nto = "h:1"\nraw = 1',
            "characters.a.vmc[0].raw: 1; allowed: true or false",
        ),
        ("[[characters.a.osc]]", "characters.a.osc[0].to: is missing; allowed: text"),
        ('[characters."a/b"]', "characters.a/b: name 'a/b' has a '/'; none is allowed"),
        ("[characters.a]\nrig = 3", "characters.a.rig: 3; allowed: text"),
        ('[[session]]\ncharacter = "a"', "session[0].performer: is missing; allowed: text"),
        (SMALL + "rate_hz = 20", "session[0].rate_hz: 20; allowed: a number from 30 to 120"),
        (SMALL + "rate_hz = true", "session[0].rate_hz: true; allowed: a number from 30 to 120"),
        (SMALL + "rate_hz = nan", "session[0].rate_hz: nan; allowed: a number from 30 to 120"),
        (
            SMALL + 'rate_hz = "60"',
            "session[0].rate_hz: '60'; allowed: a number from 30 to 120",
        ),
        (
            SMALL + "delay_s = 0.1",
            "session[0].delay_s: needs rate_hz; a session per frame adds no delay",
        ),
        (
            SMALL + 'stride = "long"',
            "session[0].stride: 'long'; allowed: 'scaled' or 'performed'",
        ),
        (SMALL + "stride = 1", "session[0].stride: 1; allowed: 'scaled' or 'performed'"),
        (SMALL + "lock_feet = 1", "session[0].lock_feet: 1; allowed: true or false"),
        (SMALL + "smoothing = 2", "session[0].smoothing: 2; allowed: a number from 0 to 1"),
        (
            SMALL + "enhance = true\nsmoothing = 0.5",
            "session[0]: enhances the performer's own body, which takes no stride, lock_feet,"
            " smoothing, hand_contacts",
        ),
        (
            SMALL + "enhance = true\nhand_contacts = true",
            "session[0]: enhances the performer's own body, which takes no stride, lock_feet,"
            " smoothing, hand_contacts",
        ),
        (SMALL + "parameters = 1", "session[0].parameters: 1 is not a table"),
        (
            SMALL + "[session.parameters]\nk = [1]",
            "session[0].parameters.k: [1]; allowed: a number, true, false or text",
        ),
        (
            SMALL + SMALL,
            "session[1].character: 'short-legs' is driven by session[0] already;"
            " a character has one session",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_key_value_and_what_is_allowed(
    text: str, message: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        parse(text)
    assert str(refused.value) == message


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.toml: cannot be read"):
        load_config(tmp_path / "missing.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("[server\n\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"broken\.toml: is not TOML: .*line 1"):
        load_config(broken)
    broken.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        load_config(broken)
    broken.write_text(SMALL + "rate = 1", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"broken\.toml: session\[0\]\.rate: is unknown"):
        load_config(broken)
