"""Certificates made on the spot: a good one, and one for each way in which they are bad."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

__all__ = ["HOST", "authority_pem", "server_context"]

HOST = "zoo.example"
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class _Issued:
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


@cache
def _issue(kind: str) -> _Issued:
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.now(UTC)
    ends = now - _DAY if kind == "expired" else now + 30 * _DAY
    issuer = _Issued(None, key) if kind in ("authority", "self_signed") else _issue("authority")  # type: ignore[arg-type]
    host = "elsewhere.example" if kind == "wrong_host" else HOST
    subject = _name("zoo authority" if kind == "authority" else host)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if issuer.certificate is None else issuer.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 10 * _DAY)
        .not_valid_after(ends)
        .add_extension(x509.BasicConstraints(ca=kind == "authority", path_length=None), critical=True)
    )
    if kind != "authority":
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
    return _Issued(builder.sign(issuer.key, hashes.SHA256()), key)


def authority_pem() -> bytes:
    """What a client must trust to accept the good certificate."""
    return _issue("authority").certificate.public_bytes(serialization.Encoding.PEM)


@cache
def server_context(kind: str, *protocols: str) -> ssl.SSLContext:
    """A server's TLS settings with a `good`, `self_signed`, `expired` or `wrong_host` certificate."""
    issued = _issue(kind)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "both.pem"
        file.write_bytes(
            issued.key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + issued.certificate.public_bytes(serialization.Encoding.PEM)
        )
        context.load_cert_chain(file)
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context
