#!/usr/bin/python3
"""A server that receives events: checks each request's signature with Python's hmac (Standard Webhooks 1.0), and
answers with the given statuses. See README.md."""

import base64
import datetime
import hashlib
import hmac
import http.server
import json
import ssl
import threading
import time

import peer


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        options, state = self.server.options, self.server.state
        body = self.rfile.read(int(self.headers["content-length"]))
        identifier, stamp = self.headers["webhook-id"], self.headers["webhook-timestamp"]
        signed = f"{identifier}.{stamp}.".encode() + body
        expected = "v1," + base64.b64encode(hmac.new(options.secret.encode(), signed, hashlib.sha256).digest()).decode()
        told = json.loads(body)
        with state["lock"]:
            status = state["statuses"].pop(0) if state["statuses"] else 200
            state["requests"].append({
                "identifier": identifier, "status": status, "type": told["type"], "camera": told["data"]["camera"],
                "text": told["data"]["text"],
                "isSigned": hmac.compare_digest(self.headers.get("webhook-signature", ""), expected),
                "isNow": abs(int(stamp) - time.time()) < 300
                and datetime.datetime.fromisoformat(told["timestamp"]).tzinfo is not None,
                "isJSON": self.headers["content-type"] == "application/json", "path": self.path,
                "authorization": self.headers.get("authorization"),
            })
        if options.hang:
            threading.Event().wait()
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    parser = peer.parser(__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--secret", default="")
    parser.add_argument("--status", type=int, action="append", default=[], help="status of the first answers; then 200")
    parser.add_argument("--hang", action="store_true", help="never answer")
    parser.add_argument("--tls", action="store_true")
    options = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Receiver)
    server.daemon_threads = True
    server.options = options
    server.state = {"lock": threading.Lock(), "requests": [], "statuses": list(options.status)}
    ready = {"port": server.server_port}
    if options.tls:
        ready["ca"], certificate, key = peer.make_certificates()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)

    def report(_):
        with server.state["lock"]:
            return {"requests": list(server.state["requests"])}

    peer.serve(options, {"report": report}, ready)
    server.serve_forever()


main()
