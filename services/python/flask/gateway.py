"""Another HTTP server is asked, by requests."""

import requests
from flask import Blueprint, abort
from requests.adapters import HTTPAdapter

from settings import read_settings

blueprint = Blueprint("gateway", __name__)
settings = read_settings()

# The connections of a session are kept: one for each thread that may wait.
session = requests.Session()
session.mount("http://", HTTPAdapter(pool_maxsize=settings.threads))


@blueprint.get("/gateway/<int:id>")
def gateway(id: int):
    answer = session.get(f"{settings.upstream_url}/items/{id}")
    if answer.status_code == 404:
        abort(404)
    answer.raise_for_status()
    return answer.json() | {"via": "gateway"}
