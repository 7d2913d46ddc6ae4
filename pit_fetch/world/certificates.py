"""The certificates of one run: an authority that only its command trusts, and a certificate for each host it asks.

They are valid from 2000 to 2059, since the command's clock stands at its instant. The authority's key is never written.
"""

from __future__ import annotations

import os
import ssl
import threading
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_FIRST, _LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2059, 12, 31, tzinfo=UTC)
PROTOCOLS = ["h2", "http/1.1"]


class Authority:
    """Makes the TLS context of any host. ``folder`` holds files for a moment, and is the owner's alone."""

    def __init__(self, folder: str) -> None:
        self._folder, self._key, self._leaf_key = folder, _new_key(), _new_key()
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "pit_fetch run")])
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._lock = threading.Lock()
        self._certificate = self._sign(self._name, self._key, x509.BasicConstraints(ca=True, path_length=0))

    @property
    def pem(self) -> bytes:
        """The authority's certificate, which the command is to trust."""
        return self._certificate.public_bytes(serialization.Encoding.PEM)

    def context(self, host: str = "localhost") -> ssl.SSLContext:
        """Return the context of a host. It changes to that of another host that the client names."""
        with self._lock:
            if host not in self._contexts:
                self._contexts[host] = self._new_context(host)
            return self._contexts[host]

    def _choose(self, connection: Any, name: str | None, context: ssl.SSLContext) -> None:
        if name:
            connection.context = self.context(name)

    def _new_context(self, host: str) -> ssl.SSLContext:
        try:
            names: list[x509.GeneralName] = [x509.IPAddress(ip_address(host))]
        except ValueError:
            names = [x509.DNSName(host)]
        if host == "localhost":
            names.append(x509.IPAddress(ip_address("127.0.0.1")))
        leaf = self._sign(x509.Name([]), self._leaf_key, x509.BasicConstraints(ca=False, path_length=None), names)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(PROTOCOLS)
        context.sni_callback = self._choose
        path = os.path.join(self._folder, "leaf.pem")  # the library reads files only
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            file.write(self._leaf_key.private_bytes(serialization.Encoding.PEM, *form))
            file.write(leaf.public_bytes(serialization.Encoding.PEM))
        context.load_cert_chain(path)
        os.unlink(path)
        return context

    def _sign(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        constraints: x509.BasicConstraints,
        names: list[x509.GeneralName] | None = None,
    ) -> x509.Certificate:
        public, issuer = key.public_key(), self._key.public_key()
        usage = dict.fromkeys(("content_commitment", "key_encipherment", "data_encipherment", "key_agreement"), False)
        rest = {"encipher_only": False, "decipher_only": False, "digital_signature": True}
        builder = (
            x509.CertificateBuilder(self._name, subject, public, x509.random_serial_number(), _FIRST, _LAST)
            .add_extension(constraints, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer), critical=False)
            .add_extension(
                x509.KeyUsage(**usage, **rest, key_cert_sign=constraints.ca, crl_sign=constraints.ca), critical=True
            )
        )
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=True).add_extension(
                x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False
            )
        return builder.sign(self._key, hashes.SHA256())


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())
