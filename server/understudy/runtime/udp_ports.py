"""The UDP ports of a show: bound before anything is sent, so that no loop can arise."""

from __future__ import annotations

from understudy.config import Config, ConfigError, UdpAddress
from understudy.errors import UnderstudyError
from understudy.transport import Resolved, UdpInput, is_ours, resolve


class UdpPorts:
    """The inputs of every performer that has one, by the performer's name.

    ConfigError tells which address of the show file cannot be used.
    """

    def __init__(self, config: Config) -> None:
        self.inputs: dict[str, UdpInput] = {}
        try:
            for performer in config.performers:
                for kind, address in (("vmc", performer.vmc), ("osc", performer.osc)):
                    if address is not None:
                        key = f"performers.{performer.name}.{kind}"
                        self.inputs[performer.name] = _listen(key, address)
            self._refuse_loops(config)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give every port back, once nobody receives."""
        for udp in self.inputs.values():
            udp.close()
        self.inputs.clear()

    def _refuse_loops(self, config: Config) -> None:
        """A character's poses must not come back as a performer's frames."""
        ours = {f"performer {name!r}": udp.bound for name, udp in self.inputs.items()}
        for character in config.characters:
            if character.vmc_requests is not None:
                key = f"characters.{character.name}.vmc_requests"
                ours[f"requests about {character.name!r}"] = _find(key, character.vmc_requests)
        for character in config.characters:
            targets = {
                "vmc": [target.to for target in character.vmc],
                "osc": list(character.osc),
            }
            for kind, addresses in targets.items():
                for number, address in enumerate(addresses):
                    key = f"characters.{character.name}.{kind}[{number}].to"
                    target = _find(key, address)
                    for who, bound in ours.items():
                        if is_ours(target, bound):
                            raise ConfigError(
                                key,
                                f"{address} is this server's own input for {who}; send elsewhere",
                            )


def _listen(key: str, address: UdpAddress) -> UdpInput:
    try:
        return UdpInput(address.host, address.port)
    except UnderstudyError as error:
        raise ConfigError(key, str(error)) from None


def _find(key: str, address: UdpAddress) -> Resolved:
    try:
        return resolve(address.host, address.port)
    except UnderstudyError as error:
        raise ConfigError(key, str(error)) from None
