import re
import threading
import time

from flask import Flask, Response, abort, jsonify, request

from settings import read_settings

app = Flask(__name__)
settings = read_settings()

# Of use with the development server alone, which starts a thread for every
# connection: gunicorn has THREADS of them anyway.
slots = threading.Semaphore(settings.threads)


def text(body: str) -> Response:
    return Response(body, mimetype="text/plain")


@app.get("/")
def hello():
    return text("Hello world!")


@app.get("/api/test")
def api_test():
    return text("Hello, World!")


@app.post("/test")
def receive():
    message = request.get_json()  # 4xx where it is malformed or empty
    if not isinstance(message, dict):
        abort(400, "The body is not a JSON object")

    if settings.delay_ms > 0:
        with slots:
            time.sleep(settings.delay_ms / 1000)
    return message | {"text": "received"}


@app.get("/test/status")
def status():
    return text("OK")


@app.get("/test/labels/<label>")
def label(label: str):
    return text(label)


@app.get("/framework")
def framework():
    return {"Hello": "world"}


@app.get("/benchmark")
def benchmark():
    count = request.args.get("count", "10000")
    if not re.fullmatch("[0-9]{1,7}", count) or int(count) > 1_000_000:
        abort(400, "count is an integer from 0 to 1000000")
    strings = [f"Index {i}" for i in range(int(count))]
    return jsonify(strings[:10])
