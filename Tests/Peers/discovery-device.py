#!/usr/bin/env python3
"""ONVIF devices that answer WS-Discovery probes in a separate network. One of them also sends hostile answers."""

import socket
import struct
import threading
import xml.etree.ElementTree as ET

import namespaces
import peer

GROUP, PORT = "239.255.255.250", 3702
SOAP = "{http://www.w3.org/2003/05/soap-envelope}"
ADDRESSING = "{http://schemas.xmlsoap.org/ws/2004/08/addressing}"
DISCOVERY = "{http://schemas.xmlsoap.org/ws/2005/04/discovery}"
PROBE = DISCOVERY[1:-1] + "/Probe"


def message_id(probe):
    """Returns the identifier of a probe for cameras. Raises ValueError for any other message."""
    root = ET.fromstring(probe)
    header, body = root.find(SOAP + "Header"), root.find(SOAP + "Body")
    if root.tag != SOAP + "Envelope" or header is None or body is None:
        raise ValueError("no SOAP 1.2 envelope")
    if header.findtext(ADDRESSING + "Action") != PROBE:
        raise ValueError("no action of a probe")
    if header.findtext(ADDRESSING + "To") != "urn:schemas-xmlsoap-org:ws:2005:04:discovery":
        raise ValueError("not to those who discover")
    types = body.findtext(f"{DISCOVERY}Probe/{DISCOVERY}Types") or ""
    prefixes = [types.strip().split(":")[0]]
    if types.split() != [f"{prefixes[0]}:NetworkVideoTransmitter"]:
        raise ValueError(f"asks for {types!r}")
    if f'xmlns:{prefixes[0]}="http://www.onvif.org/ver10/network/wsdl"'.encode() not in probe:
        raise ValueError("the type is of another namespace")
    return header.findtext(ADDRESSING + "MessageID")


def answer(endpoint, related, scopes, addresses, types="dn:NetworkVideoTransmitter tds:Device"):
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<SOAP-ENV:Envelope xmlns:SOAP-ENV="{SOAP[1:-1]}" xmlns:wsa="{ADDRESSING[1:-1]}" xmlns:d="{DISCOVERY[1:-1]}"
 xmlns:dn="http://www.onvif.org/ver10/network/wsdl" xmlns:tds="http://www.onvif.org/ver10/device/wsdl">
<SOAP-ENV:Header><wsa:MessageID>{endpoint}-answer</wsa:MessageID><wsa:RelatesTo>{related}</wsa:RelatesTo>
<wsa:To>{ADDRESSING[1:-1]}/role/anonymous</wsa:To><wsa:Action>{DISCOVERY[1:-1]}/ProbeMatches</wsa:Action>
</SOAP-ENV:Header><SOAP-ENV:Body><d:ProbeMatches><d:ProbeMatch><wsa:EndpointReference><wsa:Address>{endpoint}
</wsa:Address></wsa:EndpointReference><d:Types>{types}</d:Types><d:Scopes>{scopes}</d:Scopes>
<d:XAddrs>{addresses}</d:XAddrs><d:MetadataVersion>1</d:MetadataVersion></d:ProbeMatch></d:ProbeMatches>
</SOAP-ENV:Body></SOAP-ENV:Envelope>""".encode()


def answers(related):
    """Returns the devices' answers, each as it is sent."""
    scope = "onvif://www.onvif.org/"
    yield b""
    yield b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"
    yield b"<a>" * 5000
    yield b"\xff" * 60000
    yield answer("urn:uuid:other-question", "urn:uuid:00000000-0000-4000-8000-000000000000", "", "http://10.77.0.1/")
    yield answer("urn:uuid:printer", related, "", "http://10.77.0.1/", types="wprt:PrintDeviceType")
    door = answer(
        "urn:uuid:door", related,
        f"{scope}name/Front%20Door {scope}hardware/M1%1B[31m {scope}location/country/iceland {scope}location/hall%203 "
        f"{scope}Profile/Streaming", "http://10.77.0.1/onvif/device_service http://viewer:s3cr3t@10.77.0.1/")
    yield door
    yield door
    yield answer("urn:uuid:yard", related, "",
                 "http://10.77.0.1:8080/onvif/device_service http://10.77.0.1:8081/onvif/device_service")


def main():
    options = peer.parser(__doc__).parse_args()
    clients = namespaces.isolate()
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("", PORT))
    server.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                      struct.pack("4s4s", socket.inet_aton(GROUP), socket.inet_aton("10.77.0.1")))
    probes = []

    def serve():
        while True:
            probe, sender = server.recvfrom(65536)
            try:
                related = message_id(probe)
            except (ValueError, ET.ParseError) as error:
                probes.append(f"invalid: {error}")
                continue
            probes.append(related)
            for message in answers(related):
                server.sendto(message, sender)

    threading.Thread(target=serve, daemon=True).start()
    peer.serve(options, {"report": lambda _: {"probes": probes}}, {"clients": clients})
    threading.Event().wait()


main()
