"""The bridge's own certificate, made at first start, so that headsets on the network get the secure page WebXR needs.

Browsers remember that a person accepted a certificate, not a key. So there is a new one only if there must be: when the
machine has an address or name that the old one lacks, or it is about to expire. Names of the old one are kept.
"""

from __future__ import annotations

import contextlib
import fcntl
import ipaddress
import socket
import ssl
import struct
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from lfd_description.files import write_atomically

VALID = timedelta(days=730)
RENEW_BEFORE = timedelta(days=30)
MAX_NAMES = 64  # of all networks that the machine was ever in
MAX_COMMON_NAME = 64  # characters, by X.509

_GET_ADDRESS = 0x8915  # SIOCGIFADDR of Linux
_SOMEWHERE = ('192.0.2.1', 9)  # an address that is nobody's (RFC 5737); nothing is sent there


@dataclass(frozen=True)
class Certificate:
    """Where the certificate and its key are."""

    file: Path
    key: Path
    names: tuple[str, ...]
    """Host names and addresses that it is good for."""
    fingerprint: str
    """SHA-256, as browsers show it."""

    def server_context(self) -> ssl.SSLContext:
        """What a server needs to speak TLS with it."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(self.file, self.key)
        return context


def own_certificate(folder: Path, names: tuple[str, ...]) -> Certificate:
    """The certificate in a folder, made or renewed if it has to be.

    Args:
        folder: where it and its key are kept.
        names: host names and addresses that it must be good for.
    """
    file, key_file = folder / 'certificate.pem', folder / 'key.pem'
    key = _key(key_file)
    old = _certificate(file)
    known = _names(old) if old is not None else ()
    if old is None or old.public_key() != key.public_key() or not set(names) <= set(known) or _is_old(old):
        old = _made(key, tuple(dict.fromkeys((*names, *known)))[:MAX_NAMES])
        write_atomically(file, old.public_bytes(Encoding.PEM))
    digest = old.fingerprint(hashes.SHA256()).hex().upper()
    shown = ':'.join(digest[at : at + 2] for at in range(0, len(digest), 2))
    return Certificate(file, key_file, _names(old), shown)


def own_names() -> tuple[str, ...]:
    """The names and addresses by which this machine can be reached, nearest first."""
    host = socket.gethostname().split('.')[0].lower()
    names = ('localhost', '127.0.0.1', '::1', host, f'{host}.local', *lan_addresses())
    return tuple(dict.fromkeys(name for name in names if _is_name(name)))


def lan_addresses() -> tuple[str, ...]:
    """The machine's IPv4 addresses but its own loopback; first the one that leads to other networks."""
    found = [*_address_of_default_route(), *_addresses_of_interfaces()]
    usable = (each for each in found if not (ip := ipaddress.ip_address(each)).is_loopback and not ip.is_unspecified)
    return tuple(dict.fromkeys(usable))


def _address_of_default_route() -> list[str]:
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(_SOMEWHERE)
        return [str(probe.getsockname()[0])]
    return []


def _addresses_of_interfaces() -> list[str]:
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):  # an interface without an IPv4 address, or not Linux
                answer = fcntl.ioctl(probe.fileno(), _GET_ADDRESS, struct.pack('256s', name.encode()[:15]))
                found.append(socket.inet_ntoa(answer[20:24]))
    return found


def _is_name(name: str) -> bool:
    """Whether a certificate can hold it: a machine may be called what no address can be."""
    labels = name.split('.')
    return ':' in name or all(label and label.isascii() and label.replace('-', '').isalnum() for label in labels)


def _key(file: Path) -> ec.EllipticCurvePrivateKey:
    with contextlib.suppress(OSError, ValueError, TypeError):
        key = load_pem_private_key(file.read_bytes(), None)
        if isinstance(key, ec.EllipticCurvePrivateKey):
            file.chmod(0o600)
            return key
    made = ec.generate_private_key(ec.SECP256R1())
    write_atomically(file, made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), mode=0o600)
    return made


def _certificate(file: Path) -> x509.Certificate | None:
    with contextlib.suppress(OSError, ValueError):
        return x509.load_pem_x509_certificate(file.read_bytes())
    return None


def _names(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except (x509.ExtensionNotFound, ValueError):
        return ()
    return tuple(str(name.value) for name in extension.value)


def _is_old(certificate: x509.Certificate) -> bool:
    now = datetime.now(UTC)
    return not certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc - RENEW_BEFORE


def _made(key: ec.EllipticCurvePrivateKey, names: tuple[str, ...]) -> x509.Certificate:
    title = f'lfd on {socket.gethostname()}'[:MAX_COMMON_NAME]
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, title)])
    now = datetime.now(UTC)
    usage = x509.KeyUsage(
        digital_signature=True, key_cert_sign=True, crl_sign=False, content_commitment=False, key_encipherment=False,
        data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))  # clocks of headsets are late at times
        .not_valid_after(now + VALID)
        .add_extension(x509.SubjectAlternativeName([_general_name(each) for each in names]), critical=False)
        # It vouches for itself and for nobody else, so that trusting it opens no other door.
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(identifier, critical=False)
    )
    return builder.sign(key, hashes.SHA256())


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
