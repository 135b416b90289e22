# SPDX-License-Identifier: MIT
"""Reads Go's bloom as JSON, {"m":96,"k":7,"b":"…"}.

The library does this with jansson where it is linked; the wheel leaves jansson out, because Python
has a parser. b is base64 of what follows m and k in the plain form, which the library reads.
"""
import base64
import binascii
import json
import os
import re
from typing import Any

from .errors import Error, make

_START = re.compile(rb'[ \t\r\n]*\{[ \t\r\n]*"[mkb]"[ \t\r\n]*(:|\Z)')


def _refuse(text: str, offset: int = 0) -> Error:
    return make("BLM_E_FORMAT", f"as go-json: {text}", offset, 0)


def read(path: Any, offset: int) -> bytes:
    """The plain form of the filter in a file."""
    try:
        with open(path, "rb") as file:
            file.seek(offset)
            return to_plain(file.read(), offset)
    except OSError as e:
        raise make("BLM_E_IO", f"{os.fsdecode(path)}: {e.strerror}", None, e.errno or 0) from None


def looks_like(data: bytes) -> bool:
    """As the library looks. A { alone may be the length of a bip37 filter."""
    return _START.match(data[:64]) is not None


def to_plain(data: bytes, offset: int = 0) -> bytes:
    """The plain form ("go") of a filter in JSON. One that begins at an offset may be followed by anything."""
    try:
        if offset:
            value, _ = json.JSONDecoder().raw_decode(data.decode("latin-1").lstrip(" \t\r\n"))
        else:
            value = json.loads(data)
    except (ValueError, RecursionError):
        raise _refuse("not JSON", offset) from None
    if not isinstance(value, dict):
        raise _refuse("not an object", offset)
    out = b""
    for name in ("m", "k"):
        n = value.get(name)
        if type(n) is not int or not 0 < n < 2**63:
            raise _refuse(f"{name} is not a whole number above 0", offset)
        out += n.to_bytes(8, "big")
    text = value.get("b")
    if not isinstance(text, str):
        raise _refuse("b is not a string", offset)
    try:
        return out + base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        raise _refuse("b is not base64", offset) from None
