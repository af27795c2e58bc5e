"""Sockets: bytes in with their time of arrival, bytes out; nothing here knows what they mean."""

from understudy.transport.addresses import AddressError, bind
from understudy.transport.udp_addresses import Resolved, is_ours, resolve
from understudy.transport.udp_input import Datagram, UdpInput
from understudy.transport.udp_output import UdpOutput
from understudy.transport.udp_requests import RequestPort
from understudy.transport.zmq_control import ControlSocket
from understudy.transport.zmq_input import Arrival, FrameInput
from understudy.transport.zmq_output import PoseOutput

__all__ = [
    "AddressError",
    "Arrival",
    "ControlSocket",
    "Datagram",
    "FrameInput",
    "PoseOutput",
    "RequestPort",
    "Resolved",
    "UdpInput",
    "UdpOutput",
    "bind",
    "is_ours",
    "resolve",
]
