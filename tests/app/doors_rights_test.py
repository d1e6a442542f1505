#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""/apis/tutti/v1/ of `run`: what each user sees, how many streams are open, and what a standby says.

  doors_rights_test.py PATH-TO-TUTTI
"""

import os
import pathlib
import sys
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import doors_rig as rig
from doors_rig import DOOR, Events, eventually, fetch, gang, open_url


class OfUsers(rig.OfRun):
    def test_each_user_sees_the_namespaces_whose_pods_it_may_list(self):
        names = lambda answer: [one["name"] for one in answer[1].get("gangs", [])]
        self.assertEqual(names(self.ask("gangs", "admin")), ["first", "mine"])
        self.assertEqual(names(self.ask("gangs", "dev")), ["mine"])
        self.assertEqual(names(self.ask("gangs?namespace=other", "dev")), ["mine"])
        status, text = self.ask("gangs?namespace=default", "dev")
        self.assertEqual((status, text), (403, 'user "dev" may not list the pods of namespace default\n'))
        for path in ("gangs/default/first", "gangs/default/first/history", "gangs/default/unknown", "nodes", "queues",
                     "watch?namespace=default"):
            self.assertEqual(self.ask(path, "dev")[0], 403, path)
        self.assertEqual(self.ask("gangs/other/mine", "dev")[0], 200)
        self.assertEqual(self.ask("nodes", "admin")[0], 200)
        self.assertEqual(self.ask("gangs", "unknown")[0], 401)
        for path in ("gangs", "gangs?namespace=default", "queues", "version", "watch"):
            self.assertEqual(self.ask(path, None)[0], 401, path)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            open_url(self.scheduler + DOOR + "gangs")
        self.assertEqual(refused.exception.headers["WWW-Authenticate"], "Bearer")

    def test_the_token_may_come_through_a_proxy(self):
        self.assertEqual(len(self.ask("gangs", "admin", "X-Tutti-Authorization")[1]["gangs"]), 2)
        self.assertEqual(self.ask("gangs", "unknown", "X-Tutti-Authorization")[0], 401)

    def test_a_watch_shows_only_what_the_user_may_see(self):
        events = Events(self.scheduler + DOOR + "watch", {"Authorization": "Bearer dev"})
        self.assertEqual(events.next()["event"], "current")
        self.apply(gang("hidden", 1, "1"))
        self.apply(gang("shown", 1, "1", "other"))
        seen = set()
        while "shown" not in seen:
            event = events.next()
            if event["event"] == "gang":
                seen.add(event["data"]["gang"]["name"])
        self.assertNotIn("hidden", seen)
        events.close()

    def test_streams_beyond_the_most_are_refused_and_closed_ones_make_room(self):
        def open_as(user):
            """The stream, or the error that refused it."""
            request = urllib.request.Request(self.scheduler + DOOR + "watch", headers={"Authorization": f"Bearer {user}"})
            try:
                return open_url(request)
            except urllib.error.HTTPError as error:
                return error

        of_one = [open_as("admin") for _ in range(9)]
        self.assertEqual([one.status for one in of_one], 8 * [200] + [429])
        self.assertIn('user "admin" has 8 streams open', of_one[-1].read().decode())
        others = [open_as(f"admin-{i // 8}") for i in range(121)]
        self.assertEqual([one.status for one in others], 120 * [200] + [503])
        self.assertEqual(others[-1].headers["Retry-After"], "5")
        self.assertEqual(fetch(self.scheduler + "/livez")[0], 200)
        for one in of_one:
            one.close()

        def opens_again():
            one = open_as("admin")
            self.addCleanup(one.close)
            return one.status == 200

        eventually(opens_again, "a closed stream makes room")
        for one in others:
            one.close()

    def test_a_standby_names_the_leader_and_shows_nothing(self):
        standby = self.run_one()
        status, text = self.ask("gangs", "admin", url=standby)
        self.assertEqual(status, 503)
        self.assertIn("not the leader; ask ", text)
        self.assertNotIn("leading", self.ask("version", "admin", url=standby)[1])


if __name__ == "__main__":
    rig.TUTTI = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
