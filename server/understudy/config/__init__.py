"""The show: what it is made of, its file read and checked, and its settings written back."""

from understudy.config.model import (
    DEFAULT_SOLVER,
    CharacterConfig,
    Config,
    ConfigError,
    ParameterValue,
    PerformerConfig,
    ServerConfig,
    SessionConfig,
    Settings,
    Stride,
    UdpAddress,
    VmcTarget,
)
from understudy.config.reading import (
    SETTING_KEYS,
    check_settings,
    decode_config,
    load_config,
    parse_config,
    parse_session,
    parse_settings,
)
from understudy.config.show_file import LiveSession, SaveError, ShowFile
from understudy.config.table import read_udp_address

__all__ = [
    "DEFAULT_SOLVER",
    "SETTING_KEYS",
    "CharacterConfig",
    "Config",
    "ConfigError",
    "LiveSession",
    "ParameterValue",
    "PerformerConfig",
    "SaveError",
    "ServerConfig",
    "SessionConfig",
    "Settings",
    "ShowFile",
    "Stride",
    "UdpAddress",
    "VmcTarget",
    "check_settings",
    "decode_config",
    "load_config",
    "parse_config",
    "parse_session",
    "parse_settings",
    "read_udp_address",
]
