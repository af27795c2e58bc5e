"""Sockets: bytes in with their time of arrival, bytes out; nothing here knows what they mean."""

from understudy.transport.addresses import AddressError, bind
from understudy.transport.zmq_control import ControlSocket
from understudy.transport.zmq_input import Arrival, FrameInput
from understudy.transport.zmq_output import PoseOutput

__all__ = ["AddressError", "Arrival", "ControlSocket", "FrameInput", "PoseOutput", "bind"]
