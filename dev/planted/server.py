"""A server that costs some percent more with PLANT=loop, json, regex, call or log, TIMES times in each request."""

import json
import os
import re
import socketserver

PLANT = os.environ.get("PLANT", "")
TIMES = int(os.environ.get("TIMES", "0"))
ITEM = {"id": 1, "tags": [f"tag {i}" for i in range(20)]}
ROUTE = re.compile("^/items/([0-9]+)$")
LOG = open("/dev/null", "w")


def planted_loop(path):
    total = 1
    for i in range(TIMES):
        total = (total * 31 + i) % 1000003
    return total


def planted_json(path):
    for _ in range(TIMES):
        json.dumps(ITEM)


def planted_regex(path):
    for _ in range(TIMES):
        ROUTE.match(path)


def planted_call(path):
    for _ in range(TIMES):
        os.path.exists("/etc/hostname")


def planted_log(path):
    for i in range(TIMES):
        print(i, path, file=LOG, flush=True)


def no_plant(path):
    pass


PLANTED = globals().get("planted_" + PLANT, no_plant)


class Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        while line := self.rfile.readline():
            path = line.split()[1].decode()
            while self.rfile.readline() not in (b"\r\n", b""):
                pass
            PLANTED(path)
            body = json.dumps(ITEM).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            self.wfile.write(head.encode() + body)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 512


Server(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
