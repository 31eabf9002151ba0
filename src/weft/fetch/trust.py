"""Whose certificates are believed: the system's authorities, and those of `[fetch] ca_file`. Called by http and build.

`SSL_CERT_FILE` names the system's, as it does for everything that uses OpenSSL; `ca_file` stands beside them.
"""

import os
import ssl
from collections.abc import Mapping

from weft.errors import ConfigError


def trusted(ca_file: str) -> ssl.SSLContext | None:
    """The system's authorities and those of the file; None without one: the system's alone."""
    if not ca_file:
        return None
    context = ssl.create_default_context()
    context.set_alpn_protocols(("http/1.1",))
    _load(context, ca_file, "fetch.ca_file")
    return context


def check(ca_file: str, environment: Mapping[str, str] | None = None) -> None:
    """Refuse files that give no authority. OpenSSL says nothing of a bad SSL_CERT_FILE, and then believes nobody."""
    system = (os.environ if environment is None else environment).get("SSL_CERT_FILE", "")
    for path, origin in ((ca_file, "fetch.ca_file"), (system, "SSL_CERT_FILE")):
        if path:
            _load(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), path, origin)


def _load(context: ssl.SSLContext, path: str, origin: str) -> None:
    try:
        context.load_verify_locations(cafile=path)
    except ssl.SSLError:
        raise ConfigError(f"{origin}: {path}: holds no certificates in PEM form") from None
    except OSError as error:
        raise ConfigError(f"{origin}: {path}: {error.strerror or error}") from None
