#!/usr/bin/env python3
"""Signs requests with botocore's Signature Version 4, for a time given by the command.

See README.md. Needs botocore from PyPI. `sign` takes {"method", "url", "headers": [[name, value]], "body", "key",
"secret", "token", "region", "service", "time"} and returns the headers that it adds; `presign` takes "lifetime" as well
and returns the address.
"""
import datetime
import threading
from unittest import mock

from botocore import auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

import peer


def prepared(message):
    request = AWSRequest(message["method"], message["url"], data=message["body"].encode())
    for name, value in message["headers"]:
        request.headers[name] = value
    return request, Credentials(message["key"], message["secret"], message.get("token"))


def at(message):
    time = datetime.datetime.strptime(message["time"], "%Y%m%dT%H%M%SZ")
    return mock.patch.object(auth, "get_current_datetime", lambda *_, **__: time)


def sign(message):
    request, credentials = prepared(message)
    with at(message):
        auth.SigV4Auth(credentials, message["service"], message["region"]).add_auth(request)
    added = ("X-Amz-Date", "X-Amz-Security-Token", "Authorization")
    return {name: request.headers[name] for name in added if name in request.headers}


def presign(message):
    request, credentials = prepared(message)
    with at(message):
        auth.SigV4QueryAuth(
            credentials, message["service"], message["region"], expires=int(message["lifetime"])).add_auth(request)
    return {"url": request.url}


if __name__ == "__main__":
    peer.serve(peer.parser(__doc__).parse_args(), {
        "sign": lambda message: {"results": [sign(each) for each in message["requests"]]},
        "presign": lambda message: {"results": [presign(each) for each in message["requests"]]},
    }, {})
    threading.Event().wait()
