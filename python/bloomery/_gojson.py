# SPDX-License-Identifier: MIT
"""Reads Go's bloom as JSON, {"m":96,"k":7,"b":"…"}.

The library does this with jansson where it is linked; the wheel leaves jansson out, because Python
has a parser. b is base64 of what follows m and k in the plain form, which the library reads.
"""
import base64
import binascii
import json

from .errors import Error, make


def _refuse(text: str) -> Error:
    return make("BLM_E_FORMAT", f"as go-json: {text}", 0, 0)


def looks_like(data: bytes) -> bool:
    return data[:64].lstrip()[:1] == b"{"


def to_plain(data: bytes) -> bytes:
    """The plain form ("go") of a filter in JSON."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise _refuse("not JSON") from None
    if not isinstance(value, dict):
        raise _refuse("not an object")
    out = b""
    for name in ("m", "k"):
        n = value.get(name)
        if type(n) is not int or not 0 < n < 2**63:
            raise _refuse(f"{name} is not a whole number above 0")
        out += n.to_bytes(8, "big")
    text = value.get("b")
    if not isinstance(text, str):
        raise _refuse("b is not a string")
    try:
        return out + base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        raise _refuse("b is not base64") from None
