from flask import Blueprint, render_template

from database import pool

blueprint = Blueprint("fortunes", __name__)


@blueprint.get("/fortunes")
def fortunes():
    with pool.connection() as connection:
        fortunes = connection.execute("SELECT id, message FROM fortune").fetchall()
    fortunes.append({"id": 0, "message": "Additional fortune added at request time."})
    fortunes.sort(key=lambda fortune: fortune["message"])
    return render_template("fortunes.html", fortunes=fortunes)
