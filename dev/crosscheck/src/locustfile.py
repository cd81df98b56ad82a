"""The users of `tare crosscheck`. TARE_WAIT is the shortest and the longest pause in ms, TARE_PATH what they ask for."""

import os
import random

import gevent
from locust import HttpUser, between, task

SHORTEST, LONGEST = (float(ms) / 1000 for ms in os.environ["TARE_WAIT"].split(","))


class User(HttpUser):
    wait_time = between(SHORTEST, LONGEST)

    def on_start(self):
        # Somewhere in a pause, as the connections of our engine begin: else all users would begin in step, and the
        # requests of that moment would be more than their pauses allow.
        gevent.sleep(random.uniform(SHORTEST, LONGEST) * random.random())

    @task
    def ask(self):
        self.client.get(os.environ["TARE_PATH"])
