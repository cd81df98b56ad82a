"""Integers of a request: what is none, or out of range, is answered with 400."""

import re

from starlette.exceptions import HTTPException

INT4 = 2**31 - 1


def integer(name: str, text: str, low: int, high: int) -> int:
    if re.fullmatch("[0-9]{1,10}", text) and low <= int(text) <= high:
        return int(text)
    raise HTTPException(400, f"{name} is an integer from {low} to {high}")
