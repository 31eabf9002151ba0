"""Binary data by its first bytes, whatever its content type claims. Called by http.py at the start of a body."""

import re
from typing import Final

# The formats that are most often served as text by mistake. No text begins like these.
_STARTS: Final = (
    b"%PDF-",
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",  # JPEG
    b"GIF87a",
    b"GIF89a",
    b"II*\0",  # TIFF
    b"MM\0*",
    b"\0\0\1\0",  # ICO
    b"\x1aE\xdf\xa3",  # Matroska, WebM
    b"OggS",
    b"fLaC",
    b"\xff\xfb",  # MP3
    b"FLV\1",
    b"\0\0\1\xba",  # MPEG
    b"\0\0\1\xb3",
    b"PK\3\4",  # ZIP, Office, EPUB, APK
    b"PK\5\6",
    b"Rar!\x1a\7",
    b"7z\xbc\xaf\x27\x1c",
    b"\x1f\x8b\x08",  # gzip
    b"\x1f\x9d",  # compress
    b"\xfd7zXZ\0",
    b"\x28\xb5\x2f\xfd",  # zstd
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",  # old Office
    b"\x7fELF",
    b"\xca\xfe\xba\xbe",  # Java, Mach-O
    b"\xcf\xfa\xed\xfe",
    b"\0asm",
    b"wOFF",
    b"wOF2",
    b"\0\1\0\0\0",  # TrueType
    b"OTTO\0",
    b"SQLite format 3\0",
    b"!<arch>\n",
    b"\xed\xab\xee\xdb",  # RPM
    b"\x93NUMPY",
    b"\x89HDF\r\n\x1a\n",
)
_PATTERNS: Final = re.compile(
    rb"BM.{4}\0\0\0\0"
    rb"|RIFF.{4}(?:WEBP|WAVE|AVI )"
    rb"|.{4}ftyp"  # MP4, MOV, HEIC, AVIF
    rb"|ID3[\x02-\x04]"
    rb"|BZh[1-9]1AY&SY"
    rb"|.{257}ustar"
    rb"|MZ.{30,200}(?:PE\0\0|This program)",
    re.DOTALL,
)


def is_binary(start: bytes) -> bool:
    """Whether a body that begins so cannot be a text."""
    return start.startswith(_STARTS) or _PATTERNS.match(start) is not None
