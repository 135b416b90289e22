# SPDX-License-Identifier: MIT
"""One exception for each way in which the library refuses."""
import errno
from typing import Dict, Optional, Type


class Error(Exception):
    """What the library refused to do. `status` is its name for it, `offset` the byte of the input
    at which the fault is, or None."""

    status: str = ""
    offset: Optional[int] = None

    def __str__(self) -> str:           # KeyError would quote it
        return str(self.args[-1]) if self.args else ""


class FormatError(Error, ValueError):
    """The bytes are not a valid filter."""


class TruncatedError(FormatError):
    """The bytes end too early."""


class ChecksumError(FormatError):
    """A checksum does not match: the bytes are damaged."""


class VersionError(FormatError):
    """Written by a newer version."""


class AmbiguousError(FormatError):
    """The bytes fit more than one format: name it."""


class ArgumentError(Error, ValueError):
    """An argument is outside its domain."""


class IndivisibleError(ArgumentError):
    """The factor does not divide the size."""


class FunnelError(ArgumentError):
    """The scheme has no such funnel."""


class LimitError(Error, ValueError):
    """A size overflows or exceeds the cap."""


class MismatchError(Error, ValueError):
    """The filters differ in a parameter."""


class UnsupportedError(Error, TypeError):
    """This kind, scheme or format cannot do this."""


class HashError(Error, ValueError):
    """The filter needs a hash function that was not given."""


class AbsentError(Error, KeyError):
    """The key was never added."""


class FullError(Error):
    """The filter is full and may not grow."""


class ReadOnlyError(Error, PermissionError):
    """The filter was opened to read."""


class BusyError(Error, BlockingIOError):
    """Another writer has the file open."""


class CancelledError(Error):
    """Cancelled by the progress callback."""


class ConflictError(Error, ValueError):
    """A key is in both lists of a filter that must be right about both."""


class NoMemoryError(Error, MemoryError):
    """Out of memory."""


class FileError(Error, OSError):
    """The system refused to read or write."""


class MissingError(FileError, FileNotFoundError):
    """There is no such file."""


class DeniedError(FileError, PermissionError):
    """The system does not allow it."""


class SpaceError(FileError):
    """No space left on the device."""


class ExistsError(FileError, FileExistsError):
    """The file exists."""


_BY_STATUS: Dict[str, Type[Error]] = {
    "BLM_E_MEMORY": NoMemoryError,
    "BLM_E_FORMAT": FormatError,
    "BLM_E_UNSUPPORTED": UnsupportedError,
    "BLM_E_ARGUMENT": ArgumentError,
    "BLM_E_LIMIT": LimitError,
    "BLM_E_ABSENT": AbsentError,
    "BLM_E_MISMATCH": MismatchError,
    "BLM_E_IO": FileError,
    "BLM_E_TRUNCATED": TruncatedError,
    "BLM_E_CHECKSUM": ChecksumError,
    "BLM_E_VERSION": VersionError,
    "BLM_E_BUSY": BusyError,
    "BLM_E_READONLY": ReadOnlyError,
    "BLM_E_SPACE": SpaceError,
    "BLM_E_CANCELLED": CancelledError,
    "BLM_E_FULL": FullError,
    "BLM_E_INDIVISIBLE": IndivisibleError,
    "BLM_E_EXISTS": ExistsError,
    "BLM_E_AMBIGUOUS": AmbiguousError,
    "BLM_E_HASH": HashError,
    "BLM_E_FUNNEL": FunnelError,
    "BLM_E_CONFLICT": ConflictError,
}
_BY_ERRNO: Dict[int, Type[Error]] = {errno.ENOENT: MissingError, errno.EACCES: DeniedError, errno.EPERM: DeniedError}


def make(status: str, text: str, offset: Optional[int], system: int) -> Error:
    """The exception for a status; the extension calls this."""
    text = text.replace("options.like (--like)", "like=")
    kind = _BY_STATUS.get(status, Error)
    if kind is FileError:
        kind = _BY_ERRNO.get(system, FileError)
    error = kind(system, text) if issubclass(kind, OSError) and system else kind(text)
    error.status = status[len("BLM_"):]
    error.offset = offset
    return error
