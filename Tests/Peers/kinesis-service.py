#!/usr/bin/env python3
"""Kinesis Video's signaling on this machine, according to AWS's public documents: the channel API and the WebSocket
with aiohttp, with signatures and parameters checked by botocore; and a viewer or a master with aiortc that reads or
sends timecode pictures. Also the services that provide credentials to containers and instances.

See README.md. Needs aiohttp, aiortc, botocore and numpy from PyPI.
"""
import asyncio
import base64
import datetime
import email.utils
import fractions
import json
import logging
import time
import urllib.parse
from unittest import mock

import aiohttp
import av
import botocore.credentials
import botocore.exceptions
import botocore.session
import numpy
from aiohttp import WSMsgType, web
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription, VideoStreamTrack
from aiortc.sdp import candidate_from_sdp
from botocore import auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.validate import ParamValidator

import peer
import timecode

KEYS = {"AKIDTEST": ("secret/of+test", None), "ASIATEST": ("temporary", "session/token==")}
REGION, SERVICE = "eu-test-1", "kinesisvideo"
MODEL = botocore.session.get_session().get_service_model("kinesisvideo")
STS = botocore.session.get_session().get_service_model("sts")
SIGNALING = botocore.session.get_session().get_service_model("kinesis-video-signaling")


def botocore_time(stamp):
    when = datetime.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ")
    return mock.patch.object(auth, "get_current_datetime", lambda *_, **__: when)


class Refusal(Exception):
    def __init__(self, name, message, status=400):
        super().__init__(name)
        self.name, self.message, self.status = name, message, status


class Service:
    def __init__(self):
        self.channels, self.requests, self.plan, self.clock = {}, [], [], 0
        self.master, self.viewers, self.said, self.sockets = None, {}, [], 0
        self.relay, self.relays_asked, self.refusals, self.assumed = None, 0, 0, []

    def now(self):
        return time.time() + self.clock

    async def listen(self, context):
        app = web.Application()
        app.router.add_get("/ws", self.socket)
        app.router.add_route("*", "/credentials", self.credentials)
        app.router.add_put("/latest/api/token", lambda _: web.Response(text="imds-token"))
        app.router.add_get("/latest/meta-data/iam/security-credentials/{role:.*}", self.instance)
        app.router.add_post("/{path:.*}", self.answer)
        runner = web.AppRunner(app)
        await runner.setup()
        ports = []
        for tls in (None, context):
            site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
            await site.start()
            ports.append(site._server.sockets[0].getsockname()[1])
        self.port, self.secure = ports

    # Credentials for containers and instances.

    def temporary(self):
        secret, token = KEYS["ASIATEST"]
        ends = datetime.datetime.fromtimestamp(self.now() + 3600, datetime.timezone.utc)
        return web.json_response({
            "AccessKeyId": "ASIATEST", "SecretAccessKey": secret, "Token": token, "Code": "Success",
            "Expiration": ends.strftime("%Y-%m-%dT%H:%M:%SZ")})

    async def credentials(self, request):
        self.requests.append("credentials")
        if request.headers.get("authorization") != "container token":
            return web.Response(status=401)
        return self.temporary()

    async def instance(self, request):
        if request.headers.get("x-aws-ec2-metadata-token") != "imds-token":
            return web.Response(status=401)
        self.requests.append("instance")
        role = request.match_info["role"]
        return self.temporary() if role == "camera" else web.Response(text="camera\n")

    # The Security Token Service.

    def token_service(self, request, body):
        """Exchanges a web identity, as documented for STS. botocore's model checks the parameters."""
        fields = dict(urllib.parse.parse_qsl(body.decode(), strict_parsing=True))
        operation = STS.operation_model(fields.pop("Action"))
        self.requests.append(operation.name)
        self.assumed.append(dict(fields))
        report = ParamValidator().validate(
            {key: value for key, value in fields.items() if key != "Version"}, operation.input_shape)
        name = self.plan.pop(0) if self.plan else None
        if report.has_errors() or fields["Version"] != STS.api_version or "authorization" in request.headers:
            name = "ValidationError"
        elif fields["WebIdentityToken"] != "web.identity/token+==":
            name = "InvalidIdentityToken"
        space = "https://sts.amazonaws.com/doc/2011-06-15/"
        if name:
            return web.Response(
                status=400, content_type="text/xml",
                text=f'<ErrorResponse xmlns="{space}"><Error><Type>Sender</Type><Code>{name}</Code><Message>told '
                     f"to say {name} &amp; more</Message></Error><RequestId>1</RequestId></ErrorResponse>")
        secret, token = KEYS["ASIATEST"]
        ends = datetime.datetime.fromtimestamp(self.now() + 3600, datetime.timezone.utc)
        return web.Response(content_type="text/xml", text=f"""\
<AssumeRoleWithWebIdentityResponse xmlns="{space}">
  <AssumeRoleWithWebIdentityResult>
    <SubjectFromWebIdentityToken>pod</SubjectFromWebIdentityToken>
    <AssumedRoleUser><Arn>{fields["RoleArn"]}/x</Arn><AssumedRoleId>AROA:x</AssumedRoleId></AssumedRoleUser>
    <Credentials>
      <AccessKeyId>ASIATEST</AccessKeyId><SecretAccessKey>{secret}</SecretAccessKey>
      <SessionToken>{token}</SessionToken><Expiration>{ends.strftime("%Y-%m-%dT%H:%M:%SZ")}</Expiration>
    </Credentials>
  </AssumeRoleWithWebIdentityResult>
  <ResponseMetadata><RequestId>2</RequestId></ResponseMetadata>
</AssumeRoleWithWebIdentityResponse>""")

    def botocore_identity(self, message):
        """Makes botocore exchange the same web identity, and compares its requests and answers."""
        session = botocore.session.Session()
        provider = botocore.credentials.AssumeRoleWithWebIdentityProvider(
            load_config=dict, profile_name="default", disable_env_vars=False,
            client_creator=lambda name, **options: session.create_client(
                name, region_name=REGION, endpoint_url=f"http://127.0.0.1:{self.port}", **options))
        with mock.patch.dict("os.environ", message["variables"]):
            found = provider.load().get_frozen_credentials()
        return {"key": found.access_key, "secret": found.secret_key, "token": found.token}

    # Programs.

    def botocore_profile(self, message):
        """Returns botocore's result for a profile in a home folder: credentials, or the name of its error.

        With `later`, the result includes the key that it uses after that many seconds."""
        files = {"AWS_CONFIG_FILE": f"{message['home']}/.aws/config",
                 "AWS_SHARED_CREDENTIALS_FILE": f"{message['home']}/.aws/credentials",
                 "AWS_EC2_METADATA_DISABLED": "true"}
        with mock.patch.dict("os.environ", files):
            try:
                kept = botocore.session.Session(profile=message["profile"]).get_credentials()
                if kept is None:
                    return {"error": "none"}
                found = kept.get_frozen_credentials()
                result = {"key": found.access_key, "secret": found.secret_key}
                if found.token:
                    result["token"] = found.token
                if "later" in message:
                    when = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=message["later"])
                    kept._time_fetcher = lambda: when
                    result["laterKey"] = kept.get_frozen_credentials().access_key
                return result
            except (botocore.exceptions.BotoCoreError, OSError, RuntimeError, ValueError) as error:
                return {"error": type(error).__name__}

    # The channel API.

    def check_header(self, request, body):
        given = request.headers.get("authorization", "")
        try:
            fields = dict(part.split("=", 1) for part in given.split(" ", 1)[1].split(", "))
            key = fields["Credential"].split("/")[0]
            stamp = request.headers["x-amz-date"]
        except (IndexError, KeyError, ValueError):
            raise Refusal("IncompleteSignature", "The request has no signature.", 403)
        if key not in KEYS:
            raise Refusal("UnrecognizedClientException", "The security token included in the request is invalid.", 403)
        when = datetime.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc).timestamp()
        if abs(when - self.now()) > 300:
            raise Refusal("InvalidSignatureException", f"Signature expired: {stamp} is now earlier", 403)
        again = AWSRequest("POST", str(request.url), data=body)
        for name in fields["SignedHeaders"].split(";"):
            if name not in ("host", "x-amz-date", "x-amz-security-token"):
                again.headers[name] = request.headers[name]
        with botocore_time(stamp):
            auth.SigV4Auth(Credentials(key, *KEYS[key]), SERVICE, REGION).add_auth(again)
        if again.headers["Authorization"] != given:
            raise Refusal("InvalidSignatureException", "The request signature we calculated does not match.", 403)

    async def answer(self, request):
        body = await request.read()
        path = "/" + request.match_info["path"]
        if path == "/":
            return self.token_service(request, body)
        try:
            found = [each for model in (MODEL, SIGNALING) for each in map(model.operation_model, model.operation_names)
                     if each.http["requestUri"] == path]
            if not found:
                raise Refusal("UnknownOperationException", path, 404)
            operation = found[0].name
            self.requests.append(operation)
            if self.plan:
                name = self.plan.pop(0)
                raise Refusal(name, f"told to say {name}", 403 if "Token" in name or "Denied" in name else 400)
            self.check_header(request, body)
            parameters = json.loads(body)
            report = ParamValidator().validate(parameters, found[0].input_shape)
            if report.has_errors():
                raise Refusal("InvalidArgumentException", report.generate_report())
            return web.json_response(getattr(self, operation)(parameters))
        except Refusal as refusal:
            return web.json_response(
                {"message": refusal.message}, status=refusal.status,
                headers={"x-amzn-errortype": refusal.name + ":http://internal.amazon.com/coral/x/",
                         "date": email.utils.formatdate(self.now(), usegmt=True)})

    def find(self, parameters):
        for channel in self.channels.values():
            if parameters.get("ChannelName") == channel["ChannelName"] \
                    or parameters.get("ChannelARN") == channel["ChannelARN"]:
                return channel
        raise Refusal("ResourceNotFoundException", "The channel is not found.", 404)

    def DescribeSignalingChannel(self, parameters):
        channel = self.find(parameters)
        shown = dict(channel)
        channel["ChannelStatus"] = "ACTIVE"
        return {"ChannelInfo": shown}

    def CreateSignalingChannel(self, parameters):
        name = parameters["ChannelName"]
        if name in self.channels:
            raise Refusal("ResourceInUseException", "The channel exists.")
        self.make(name, "CREATING")
        return {"ChannelARN": self.channels[name]["ChannelARN"]}

    def make(self, name, status="ACTIVE"):
        self.channels[name] = {
            "ChannelName": name, "ChannelStatus": status, "ChannelType": "SINGLE_MASTER", "Version": "1",
            "ChannelARN": f"arn:aws:kinesisvideo:{REGION}:123456789012:channel/{name}/1700000000000"}

    def GetSignalingChannelEndpoint(self, parameters):
        self.find(parameters)
        self.role = parameters["SingleMasterChannelEndpointConfiguration"]["Role"]
        return {"ResourceEndpointList": [
            {"Protocol": "HTTPS", "ResourceEndpoint": f"http://127.0.0.1:{self.port}"},
            {"Protocol": "WSS", "ResourceEndpoint": f"wss://127.0.0.1:{self.secure}/ws"}]}

    def GetIceServerConfig(self, parameters):
        self.find(parameters)
        self.relays_asked += 1
        uris = ["turns:192.0.2.1:443?transport=udp"] + ([self.relay] if self.relay else [])
        return {"IceServerList": [{"Password": "relay password", "Username": "relay user", "Ttl": 300, "Uris": uris}]}

    # The WebSocket.

    def check_address(self, url):
        query = url.query
        key = query["X-Amz-Credential"].split("/")[0]
        if key not in KEYS:
            return False
        plain = str(url).rsplit("&X-Amz-Signature=", 1)[0]
        own = [part for part in plain.split("?", 1)[1].split("&")
               if part.startswith(("X-Amz-ChannelARN=", "X-Amz-ClientId="))]
        again = AWSRequest("GET", plain.split("?")[0].replace("https://", "wss://") + "?" + "&".join(own))
        with botocore_time(query["X-Amz-Date"]):
            auth.SigV4QueryAuth(
                Credentials(key, *KEYS[key]), SERVICE, REGION, expires=int(query["X-Amz-Expires"])).add_auth(again)
        return again.url.rsplit("=", 1)[1] == query["X-Amz-Signature"] and int(query["X-Amz-Expires"]) <= 300

    async def socket(self, request):
        query = request.url.query
        if self.refusals > 0:
            self.refusals -= 1
            return web.json_response({"message": "Forbidden"}, status=403)
        if not self.check_address(request.url):
            return web.json_response({"message": "The signature does not match."}, status=403)
        if not any(query["X-Amz-ChannelARN"] == each["ChannelARN"] for each in self.channels.values()):
            return web.json_response({"message": "no channel"}, status=404)
        socket = web.WebSocketResponse(heartbeat=20)
        await socket.prepare(request)
        self.sockets += 1
        client = query.get("X-Amz-ClientId")
        if client is None:
            self.master = socket
        else:
            self.viewers[client] = socket
        async for message in socket:
            if message.type == WSMsgType.TEXT:
                await self.route(json.loads(message.data), client, socket)
        if client is not None and self.viewers.get(client) is socket:
            del self.viewers[client]
        if self.master is socket:
            self.master = None
        return socket

    async def route(self, message, client, socket):
        self.said.append([client or "", message["action"], message.get("recipientClientId", "")])
        target = self.master if client is not None else self.viewers.get(message.get("recipientClientId"))
        if target is None:
            await socket.send_json({"messageType": "STATUS_RESPONSE", "messagePayload": "", "statusResponse": {
                "correlationId": message.get("correlationId", ""), "errorType": "ResourceNotFoundException",
                "statusCode": "404", "description": "The recipient is not connected."}})
            return
        told = {"messageType": message["action"], "messagePayload": message["messagePayload"]}
        if client is not None:
            told["senderClientId"] = client
        await target.send_json(told)


class Timecode(VideoStreamTrack):
    """Pictures with their frame number."""

    def __init__(self):
        super().__init__()
        self.number, self.begun = 0, time.monotonic()

    async def recv(self):
        await asyncio.sleep(max(0, self.begun + self.number / 30 - time.monotonic()))
        luma = timecode.draw_luma(320, 240, self.number, time.monotonic_ns(), 30)
        rows = numpy.full((360, 320), 128, numpy.uint8)
        rows[:240] = numpy.frombuffer(luma, numpy.uint8).reshape(240, 320)
        frame = av.VideoFrame.from_ndarray(rows, format="yuv420p")
        frame.pts, frame.time_base = self.number * 3000, fractions.Fraction(1, 90_000)
        self.number += 1
        return frame


class Peer:
    """A viewer or master by aiortc that connects to the service like AWS's libraries."""

    def __init__(self, service, client, candidates_first=False):
        self.service, self.client, self.candidates_first = service, client, candidates_first
        self.numbers, self.unread, self.connections, self.socket, self.early = [], 0, {}, None, {}

    async def start(self):
        arn = next(iter(self.service.channels.values()))["ChannelARN"]
        address = f"wss://127.0.0.1:{self.service.secure}/ws"
        request = AWSRequest("GET", address, params={
            "X-Amz-ChannelARN": arn, **({"X-Amz-ClientId": self.client} if self.client else {})})
        auth.SigV4QueryAuth(Credentials("AKIDTEST", *KEYS["AKIDTEST"]), SERVICE, REGION, expires=299).add_auth(request)
        self.session = aiohttp.ClientSession()
        self.socket = await self.session.ws_connect(yarl_encoded(request.url), ssl=False)
        self.reading = asyncio.ensure_future(self.read())
        if self.client:
            made = self.make("")
            made.addTransceiver("video", direction="recvonly")
            await made.setLocalDescription(await made.createOffer())
            await self.tell("offer", made.localDescription.sdp, None)

    def make(self, sender):
        made = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.connections[sender] = made
        made.on("track", lambda track: asyncio.ensure_future(self.watch(track)))
        return made

    async def send(self, action, payload, recipient):
        message = {"action": action, "messagePayload": base64.b64encode(json.dumps(payload).encode()).decode()}
        if recipient:
            message["recipientClientId"] = recipient
        await self.socket.send_json(message)

    async def tell(self, kind, sdp, recipient):
        """Sends the candidates separately, before or after the description."""
        lines = sdp.splitlines()
        candidates = [line[2:] for line in lines if line.startswith("a=candidate:")]
        kept = [line for line in lines if not line.startswith(("a=candidate:", "a=end-of-candidates"))]
        description = {"type": kind, "sdp": "\r\n".join(kept) + "\r\n"}
        steps = [("ICE_CANDIDATE", {"candidate": line, "sdpMid": "0", "sdpMLineIndex": 0}) for line in candidates]
        steps.insert(len(steps) if self.candidates_first else 0, (f"SDP_{kind.upper()}", description))
        for action, payload in steps:
            await self.send(action, payload, recipient)

    async def read(self):
        async for message in self.socket:
            if message.type != WSMsgType.TEXT or not message.data:
                continue
            told = json.loads(message.data)
            sender = told.get("senderClientId", "")
            if told["messageType"] not in ("SDP_OFFER", "SDP_ANSWER", "ICE_CANDIDATE"):
                continue
            payload = json.loads(base64.b64decode(told["messagePayload"]))
            if told["messageType"] == "ICE_CANDIDATE":
                made = self.connections.get(sender)
                if made and made.remoteDescription:
                    await self.add(made, payload)
                else:
                    self.early.setdefault(sender, []).append(payload)
                continue
            made = self.connections.get(sender)
            if told["messageType"] == "SDP_OFFER":
                made = self.make(sender)
                made.addTrack(Timecode())
            await made.setRemoteDescription(RTCSessionDescription(payload["sdp"], payload["type"]))
            for each in self.early.pop(sender, []):
                await self.add(made, each)
            if told["messageType"] == "SDP_OFFER":
                await made.setLocalDescription(await made.createAnswer())
                await self.tell("answer", made.localDescription.sdp, sender)

    async def add(self, made, payload):
        line = payload["candidate"]
        if line and " TCP " not in line.upper():
            candidate = candidate_from_sdp(line.split(":", 1)[1])
            candidate.sdpMid, candidate.sdpMLineIndex = payload.get("sdpMid"), payload.get("sdpMLineIndex")
            await made.addIceCandidate(candidate)

    async def watch(self, track):
        try:
            while True:
                frame = await track.recv()
                plane = frame.planes[0]
                rows = numpy.frombuffer(plane, numpy.uint8).reshape(plane.height, plane.line_size)
                found = timecode.read(rows[:, : plane.width].tobytes(), frame.width, frame.height)
                if found is None:
                    self.unread += 1
                else:
                    self.numbers.append(found[0])
        except Exception:
            pass

    async def stop(self):
        for made in self.connections.values():
            await made.close()
        await self.session.close()

    def report(self):
        steps = [later - earlier for earlier, later in zip(self.numbers, self.numbers[1:])]
        return {"count": len(self.numbers), "unread": self.unread, "largest": max(steps, default=0),
                "rises": all(step > 0 for step in steps)}


def yarl_encoded(url):
    import yarl
    return yarl.URL(url, encoded=True)


async def main():
    options = peer.parser(__doc__).parse_args()
    logging.basicConfig(level=logging.ERROR)
    import ssl
    authority, certificate, key = peer.make_certificates()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    service, loop, peers = Service(), asyncio.get_running_loop(), {}
    await service.listen(context)

    def run(work):
        return asyncio.run_coroutine_threadsafe(work, loop).result(20)

    async def join(message):
        client = message.get("client") or None
        peers[client or ""] = Peer(service, client, message.get("candidatesFirst", False))
        await peers[client or ""].start()

    async def tell_master(message):
        await service.master.send_json({"messageType": message["kind"], "messagePayload": ""})

    async def drop(_):
        for socket in [service.master, *service.viewers.values()]:
            if socket is not None:
                socket._req.transport.abort()

    async def hand(message):
        await service.master.send_str(message["text"])

    def wait(message):
        one, ends = peers[message.get("client", "")], time.monotonic() + 30
        while len(one.numbers) < message["count"] and time.monotonic() < ends:
            time.sleep(0.02)
        return one.report()

    def state(_):
        return {"requests": service.requests, "sockets": service.sockets, "said": service.said,
                "master": service.master is not None, "viewers": sorted(service.viewers),
                "relays": service.relays_asked,
                "assumed": [json.dumps(each, sort_keys=True) for each in service.assumed]}

    def connected(message):
        ends = time.monotonic() + 30
        while (service.sockets < message["sockets"] or service.master is None) and time.monotonic() < ends:
            time.sleep(0.02)
        return state(message)

    peer.serve(options, {
        "channel": lambda message: service.make(message["name"]), "plan": lambda message: setattr(
            service, "plan", list(message["names"])), "clock": lambda message: setattr(
            service, "clock", message["seconds"]), "relay": lambda message: setattr(service, "relay", message["uri"]),
        "join": lambda message: run(join(message)), "leave": lambda message: run(
            peers.pop(message["client"]).stop()), "wait": wait, "state": state,
        "identity": service.botocore_identity, "profile": service.botocore_profile,
        "connected": connected, "tell": lambda message: run(tell_master(message)),
        "drop": lambda message: run(drop(message)), "hand": lambda message: run(hand(message)),
        "refuse": lambda message: setattr(service, "refusals", int(message["count"])),
    }, {
        "endpoint": f"http://127.0.0.1:{service.port}", "secure": f"https://127.0.0.1:{service.secure}",
        "authority": authority})
    await asyncio.Event().wait()


asyncio.run(main())
