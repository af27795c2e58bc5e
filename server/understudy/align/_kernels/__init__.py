"""Compiled alignment: scalar loops over arrays, explicit signatures, nothing allocated."""
