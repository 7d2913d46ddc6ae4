"""A proxy of tests: programs that are not changed ask https://… through it, and one function answers."""

from __future__ import annotations

import datetime
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from pit_fetch.views import Answer, Exchange


@contextmanager
def proxy(answer: Callable[[Exchange], Answer], folder: Path) -> Iterator[Mapping[str, str]]:
    """Serve until the block ends. Yield the variables by which programs find the proxy and trust it."""
    authority = _Authority(folder)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        host = ""

        def log_message(self, *args: object) -> None:
            pass

        def do_CONNECT(self) -> None:
            self.host = self.path.partition(":")[0]
            self.send_response_only(200)
            self.end_headers()
            secure = authority.context(self.host).wrap_socket(self.connection, server_side=True)
            self.connection, self.rfile, self.wfile = secure, secure.makefile("rb"), secure.makefile("wb")
            self.close_connection = False

        def finish(self) -> None:
            super().finish()
            self.connection.close()

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked = Exchange(self.command, "https", self.host, 443, self.path, tuple(self.headers.items()), body)
            given = answer(asked)
            self.send_response_only(given.status)
            for name, value in given.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(given.body)))
            self.end_headers()
            self.wfile.write(given.body)
            self.wfile.flush()

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_POST(self) -> None:
            self.do_GET()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *args: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url, file = f"http://127.0.0.1:{server.server_port}", str(authority.file)
    names = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
    try:
        yield {"HTTPS_PROXY": url, "https_proxy": url, **dict.fromkeys(names, file)}
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Authority:
    """Makes a certificate for each host."""

    def __init__(self, folder: Path) -> None:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ec

        self.key, self.folder, self.file = ec.generate_private_key(ec.SECP256R1()), folder, folder / "ca.pem"
        self.file.write_bytes(self._certificate("tests", None))
        encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        self.secret = self.key.private_bytes(encoding, form, serialization.NoEncryption())
        self.context = cache(self._context)

    def _context(self, host: str) -> ssl.SSLContext:
        pair = self.folder / f"{host}.pem"
        pair.write_bytes(self.secret + self._certificate(host, "tests"))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair)
        return context

    def _certificate(self, name: str, issuer: str | None) -> bytes:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.x509.oid import NameOID

        def named(text: str) -> x509.Name:
            return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

        key = self.key.public_key()
        builder = (
            x509.CertificateBuilder()
            .subject_name(named(name))
            .issuer_name(named(issuer or name))
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(datetime.datetime(2020, 1, 1))  # noqa: DTZ001
            .not_valid_after(datetime.datetime(2059, 1, 1))  # noqa: DTZ001
            .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key), critical=False)
        )
        if issuer is not None:
            builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        return builder.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
