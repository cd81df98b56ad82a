import mimetypes
import re
import threading
import time

from flask import Flask, Response, abort, jsonify, request

import upload
from settings import read_settings

settings = read_settings()
app = Flask(__name__, static_folder=settings.folder_static, static_url_path="/static")
app.register_blueprint(upload.blueprint)

# What the environment asks for; of the rest not even the modules are loaded.
if settings.database_url is not None:
    import fortunes
    import items
    import worlds

    app.register_blueprint(worlds.blueprint)
    app.register_blueprint(fortunes.blueprint)
    app.register_blueprint(items.blueprint)
if settings.products is not None:
    import products

    app.register_blueprint(products.blueprint)
if settings.folder_static is not None:
    mimetypes.add_type("font/woff2", ".woff2")
    mimetypes.add_type("image/webp", ".webp")
if settings.upstream_url is not None:
    import gateway

    app.register_blueprint(gateway.blueprint)

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
