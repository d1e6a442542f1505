#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The console in a headless Chromium, over a made-up cluster: each view, changes as they come, a lost connection, rights,
hostile names, the keyboard, and long lists."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import browser
from cluster import Cluster, key
from mock import Mock

HOSTILE = "<img src=x onerror=window.hacked=1>"
ROWS = "document.querySelectorAll('table.list tbody:not(.space) tr').length"
BROWSER = None


def setUpModule():
    global BROWSER
    BROWSER = browser.Browser()


def tearDownModule():
    BROWSER.close()


class Console(browser.Looks, unittest.TestCase):
    def open(self, cluster=None, view="", width=1280, **options):
        self.mock = Mock(cluster or Cluster(), **options)
        self.addCleanup(self.mock.stop)
        self.page = BROWSER.page(width=width)
        self.page.open(self.mock.url + view)
        return self.page

    def tearDown(self):
        self.page.close()
        # The Content-Security-Policy was never at work, nothing was thrown, and no other server was asked.
        self.assertEqual(self.page.errors, [])
        self.assertEqual([url for url in self.page.requests if not url.startswith((f"http://127.0.0.1:{self.mock.port}/", "about:"))], [])

    def waiting(self, why="nodes"):
        return next(gang for gang in self.mock.cluster.gangs.values() if gang.get("why", {}).get("kind") == why)


class Views(Console):
    def test_the_line_shows_who_waits_for_what_in_the_order_of_the_line(self):
        page = self.open()
        self.shows("Waiting", "Live", "gangs wait, the oldest for")
        waiting = [gang for gang in self.mock.cluster.gangs.values() if gang["state"] not in ("whole", "binding")]
        first = min(waiting, key=lambda gang: (-gang["priority"], gang["created"], gang["namespace"], gang["name"]))
        page.until(f"{ROWS} > 10", "rows")
        row = "document.querySelector('table.list tbody:not(.space) tr').innerText"
        self.assertIn(first["name"], page.run(row))
        self.assertIn(f"{len(waiting)} gangs wait", page.text())
        number = ("[...document.querySelectorAll('table.list tbody:not(.space) tr')].find((row) => row.querySelector('a').title == "
                  f"{json.dumps(self.waiting()['namespace'] + '/' + self.waiting()['name'])})")
        self.go(f"#/waiting?find={self.waiting()['name']}")
        page.until(f"{number}.querySelector('td.position').textContent == '{self.waiting()['position']}'", "its place in line")
        self.go("#/waiting")
        self.shows("Short of gpu by", "Waits: ")
        page.until(f"document.querySelector('table.list').getAttribute('aria-rowcount') == {len(waiting) + 1}", "the number of rows")

    def test_a_row_says_when_its_gang_could_start_once_it_is_asked(self):
        page = self.open()
        self.go(f"#/waiting?find={self.waiting()['name']}")
        page.until(f"{ROWS} == 1", "the row")
        cell = "document.querySelector('td.start button')"
        self.assertEqual(page.run(f"{cell}.textContent"), "when?")
        page.run(f"{cell}.click()")
        page.until(f"{cell}.textContent.startsWith('in ')", "an estimate")
        self.assertIn("At the latest then.", page.run(f"{cell}.title"))

    def test_filters_choose_and_are_kept_in_the_address(self):
        page = self.open()
        page.until(f"{ROWS} > 10", "rows")
        gang = self.waiting()
        page.run("document.querySelector('input[type=search]').focus()")
        page.type(gang["name"])
        page.until(f"{ROWS} == 1", "one row is left")
        self.assertIn(f"find={gang['name']}", page.run("location.hash"))
        page.open(self.mock.url + f"#/waiting?find={gang['name']}")
        page.until(f"{ROWS} == 1", "the address alone shows the same")
        self.go("#/waiting?kind=members")
        page.until("document.body.innerText.includes('needs') || document.body.innerText.includes('Needs')", "reasons of the kind")
        self.hides("Short of gpu")
        self.go("#/waiting?find=there-is-no-such-gang")
        self.shows("Nothing matches the filter.")

    def test_gangs_of_all_states_are_listed_and_sorted(self):
        page = self.open(view="#/gangs")
        self.shows("whole", "waits for nodes", "120 gangs")
        self.go("#/gangs?group=whole")
        self.hides("waits for nodes")
        self.go("#/gangs")
        self.shows("waits for nodes")
        names = "[...document.querySelectorAll('table.list tbody:not(.space) th a')].map((a) => a.title)"
        self.assertEqual(page.run(names), sorted(page.run(names)))
        page.run("document.querySelector('thead th.gang button').click()")
        page.until(f"document.querySelector('thead th.gang').getAttribute('aria-sort') == 'descending' && "
                   f"JSON.stringify({names}) == JSON.stringify({names}.sort().reverse())", "the order is turned")

    def test_a_gang_has_a_page_with_its_members_and_its_past(self):
        page = self.open()
        gang = self.waiting()
        page.until(f"{ROWS} > 10", "rows")
        self.go(f"#/gangs/{gang['namespace']}/{gang['name']}")
        self.shows("Why", gang["message"].splitlines()[0], "Estimated start: ", "At the latest then.", "These hold what it lacks", "Members", f"{gang['name']}-0", "History", "Waits", "Place in line")
        whole = next(one for one in self.mock.cluster.gangs.values() if one["state"] == "whole")
        self.go(f"#/gangs/{whole['namespace']}/{whole['name']}")
        self.shows("whole", self.mock.cluster.members[key(whole)][0]["node"], "after they all existed")
        self.go("#/gangs/default/no-such-gang")
        self.shows("there is no gang default/no-such-gang")

    def test_queues_are_trees_that_open_and_close(self):
        page = self.open(view="#/queues")
        self.shows("research", "production", "5 queues", "asked for", "closed")
        page.run("document.querySelector('button.turn').click()")
        self.hides("research")
        self.assertEqual(page.run("document.querySelector('button.turn').getAttribute('aria-expanded')"), "false")
        page.run("document.querySelector('button.turn').click()")
        self.shows("research")
        page.run("[...document.querySelectorAll('a')].find((a) => a.textContent == 'research').click()")
        self.shows("First in line", "Has of its due", "nvidia.com/gpu")

    def ask(self, name, text):
        page = self.page
        page.until(f"document.querySelector('form[aria-label=\"{name}\"]') !== null", "the form")
        page.run(f"document.querySelector('form[aria-label=\"{name}\"] textarea, form[aria-label=\"{name}\"] input').focus()")
        page.type(text)
        page.run(f"document.querySelector('form[aria-label=\"{name}\"] button').click()")

    def test_what_if_says_where_manifests_would_run_and_who_would_leave(self):
        self.open(view="#/what-if")
        self.mock.outlook = lambda question: (200, {
            "prospects": [
                {"dialect": "plain", "namespace": "default", "name": HOSTILE, "verdict": "needs-victims", "members": 2, "minMember": 2,
                 "places": [{"role": "w", "node": "gpu-1", "pods": 2}], "otherVictims": 3,
                 "victims": [{"namespace": "default", "pod": "old-0", "gang": "old", "node": "gpu-1"}]},
                {"namespace": "default", "name": "next", "verdict": "never", "message": "gang default/next waits", "members": 9, "minMember": 9, "notes": ["Not exact."]}],
            "notes": ["Left out."]})
        self.ask("These were applied now", "kind: Pod")
        self.shows("would start once others leave", HOSTILE, "gpu-1", "default/old-0", "3 pods", "could never start", "Not exact.", "Left out.")
        self.assertEqual(self.mock.questions, [{"manifests": "kind: Pod", "namespace": ""}])
        self.mock.outlook = lambda question: (400, "manifests:3: unknown field\n")
        self.ask("These were applied now", "x")
        self.shows("manifests:3: unknown field")
        self.hides("gpu-1")

    def test_what_if_says_where_the_gangs_of_a_node_would_go(self):
        self.open(view="#/what-if")
        self.mock.outlook = lambda question: (200, {"prospects": [{"namespace": "a", "name": "g", "verdict": "waits-for-nodes", "breaks": True}], "otherGangs": 2, "otherGangsWait": 1})
        self.ask("A node were drained", "gpu-1")
        self.shows("its gang breaks", "would wait for nodes", "Gangs of namespaces that you may not see: 2; of these, 1 would wait.")
        self.assertEqual(self.mock.questions, [{"drain": "gpu-1"}])

    def test_what_if_says_which_gangs_of_a_queue_would_start_with_another_limit(self):
        page = self.open(view="#/what-if")
        form = "form[aria-label=\"A queue had another limit\"]"
        ask = lambda limits: (page.run(f"{{const [queue, limits] = document.querySelectorAll('{form} input'); for (const [input, value] of [[queue, 'research'], [limits, '{limits}']]) {{input.value = value; input.dispatchEvent(new Event('input'))}}}}"),
                              page.run(f"document.querySelector('{form} button').click()"))
        page.until(f"document.querySelector('{form}') !== null", "the form")
        for wrong, said in (("", "No limit"), ("cpu", "cpu"), ("cpu=4 memory=many", "memory=many"), ("=4", "=4"), (":cpu=4", ":cpu=4"), ("cpu=-1", "cpu=-1")):
            ask(wrong)
            self.shows(f"{said}: write RESOURCE=QUANTITY, such as cpu=64")
        self.assertEqual(self.mock.questions, [])
        self.mock.outlook = lambda question: (200, {"prospects": [{"namespace": "a", "name": "g", "verdict": "fits", "queue": "research"}], "otherGangs": 3, "otherGangsWait": 2})
        ask("cpu=2.5, memory=8Gi spot:nvidia.com/gpu=1e1")
        self.shows("a/g", "would start now", "Gangs of namespaces that you may not see: 3; of these, 2 would wait.")
        self.assertEqual(self.mock.questions, [{"limit": {"queue": "research", "dialect": "", "amounts": {"cpu": "2500", "memory": str(8 << 30), "spot:nvidia.com/gpu": "10"}}}])

    def test_nodes_are_a_map_and_a_list(self):
        page = self.open(view="#/nodes")
        self.shows("96 nodes", "1 not ready", "2 closed")
        page.until("document.querySelector('canvas').getContext('2d').getImageData(0, 0, 400, 200).data.some((one) => one > 0)", "it is drawn")
        page.run("document.querySelector('canvas').focus()")
        page.key("ArrowRight", number=39)
        self.shows("gpu-001", "Held by")
        page.until("document.querySelector('[aria-live=polite]').textContent.startsWith('gpu-001, zone-a / rack-01: ')", "it is spoken")
        page.key("ArrowRight", number=39)
        self.shows("gpu-002")
        self.go("#/nodes?as=list")
        page.until(f"{ROWS} > 10", "rows")
        self.shows("gpu-001", "zone-a / rack-01")

    def test_the_map_says_which_nodes_have_room_for_a_waiting_pod(self):
        page = self.open()
        gang = self.waiting()
        self.go(f"#/nodes?gang={gang['namespace']}/{gang['name']}&node=gpu-006")
        self.shows("of 96 nodes have 8 gpu", "no room: it is closed (cordoned)")
        free = sum(1 for name, node in self.mock.cluster.nodes.items() if int(node["free"]["nvidia.com/gpu"]) >= 8 and node["ready"] and not node["unschedulable"])
        self.assertIn(f"{free} of 96 nodes", page.text())

    def test_time_shows_use_and_bars_since_the_page_was_opened(self):
        page = self.open(view="#/time")
        self.shows("Seen since", "Use of nvidia.com/gpu by queue", "research")
        page.until("document.querySelectorAll('canvas').length == 3 && document.querySelectorAll('canvas')[2].getAttribute('aria-label').includes('nodes with gangs')", "bars")
        page.until("/^Now [1-9]\\d* of 768 nvidia.com\\/gpu/.test(document.querySelector('canvas').getAttribute('aria-label'))", "use")


class Changes(Console):
    def test_a_change_shows_without_a_new_list(self):
        self.open()
        self.shows("Live")
        gang = {**self.waiting(), "name": "brand-new", "priority": 1000}
        self.mock.set(gang)
        self.shows("brand-new")
        self.mock.set({**gang, "message": "another reason"})
        self.shows("Another reason")
        self.mock.remove(gang)
        self.hides("brand-new")
        self.assertEqual(self.mock.lists, 1)

    def test_the_places_of_others_move_up_when_the_first_starts(self):
        page = self.open(view="#/waiting?queue=research")
        page.until(f"{ROWS} > 5", "rows")
        line = self.mock.cluster.line("research")
        first = {**line[0], "state": "whole"}
        for field in ("position", "line", "why", "message"):
            first.pop(field)
        row = "document.querySelector('table.list tbody:not(.space) tr').innerText"
        page.until(f"{row}.includes({json.dumps(line[0]['name'])})", "the first is first")
        self.mock.set(first)
        page.until(f"{row}.includes({json.dumps(line[1]['name'])}) && {row}.startsWith('1')", "the second is first")

    def test_a_gangs_page_follows_it(self):
        page = self.open()
        gang = self.waiting()
        self.go(f"#/gangs/{gang['namespace']}/{gang['name']}")
        self.shows("waits for nodes")
        self.mock.set({**gang, "state": "binding", "message": "its members are being bound"})
        self.shows("its members are being bound")
        page.until("document.querySelector('.badge.busy')", "the state is another")

    def test_a_lost_connection_is_told_and_comes_back_with_what_was_missed(self):
        page = self.open()
        self.shows("Live")
        self.mock.stop()
        self.shows("Connection lost", "What is shown is old.")
        self.assertGreater(page.run(ROWS), 10)
        self.mock.start()
        self.mock.set({**self.waiting(), "name": "came-meanwhile", "priority": 1000})
        self.shows("Live", "came-meanwhile")
        self.hides("Connection lost")

    def test_another_process_is_listed_anew(self):
        self.open()
        self.shows("Live")
        self.mock.stop()
        self.shows("Connection lost")
        gang = {**self.waiting(), "name": "of-the-other-process", "priority": 1000}
        self.mock.cluster.gangs = {key(gang): gang}
        self.mock.cache.clear()
        self.mock.started, self.mock.sequence = "2026-02-02T00:00:00Z", 100
        self.mock.start()
        self.shows("Live", "of-the-other-process")
        self.hides("rlhf")

    def test_when_changes_are_missing_all_is_listed_again(self):
        self.open()
        self.shows("Live")
        gang = {**self.waiting(), "name": "unseen-change", "priority": 1000}
        self.mock.cluster.gangs[key(gang)] = gang
        self.mock.cache.clear()
        self.mock.relist()
        self.shows("unseen-change", "Live")

    def test_a_standby_names_the_leader(self):
        self.mock = Mock(Cluster())
        self.addCleanup(self.mock.stop)
        self.mock.leading = False
        self.page = BROWSER.page()
        self.page.open(self.mock.url)
        self.shows("Standby", "ask tutti-1, which holds the Lease")


class Rights(Console):
    def test_without_a_token_it_asks_for_one_and_keeps_it_nowhere(self):
        page = self.open(token="secret-token")
        self.shows("Sign in", "kubectl create token")
        page.until("document.activeElement == document.querySelector('#token')", "the field has the keyboard")
        page.type("wrong")
        page.run("document.querySelector('dialog button').click()")
        self.shows("The scheduler does not accept this token.")
        page.run("document.querySelector('#token').focus()")
        page.type("secret-token")
        page.run("document.querySelector('dialog button').click()")
        self.shows("Live", "gangs wait")
        kept = page.run("JSON.stringify([localStorage, sessionStorage, document.cookie, location.href, document.body.innerHTML])")
        self.assertNotIn("secret-token", kept)

    def test_who_may_not_see_nodes_or_queues_is_told(self):
        cluster = Cluster()
        page = self.open(cluster, view="#/waiting")
        self.mock.refused = {"nodes": "may not list", "queues": "may not list"}
        page.open(self.mock.url + "#/queues")
        self.shows("You may not see the queues of the whole cluster.")
        self.go("#/nodes")
        self.shows("You may not see the nodes of the cluster.")
        self.go("#/time")
        self.shows("You may not see the nodes of the cluster.")
        self.go("#/waiting")
        self.shows("Live", "gangs wait")

    def test_who_may_see_one_namespace_sees_its_gangs_without_the_version(self):
        page = self.open()
        self.mock.refused = {"version": 'user "jane" may not get this path'}
        page.open(self.mock.url)
        self.shows("Live", "gangs wait")
        self.mock.stop()
        self.shows("Connection lost")
        self.mock.start()
        self.shows("Live")

    def test_who_may_see_nothing_is_told_why(self):
        self.mock = Mock(Cluster())
        self.addCleanup(self.mock.stop)
        self.mock.refused = {"gangs": "user jane may not list pods in any namespace"}
        self.page = BROWSER.page()
        self.page.open(self.mock.url)
        self.shows("user jane may not list pods in any namespace")


class Hostile(Console):
    def test_names_are_text_in_every_view(self):
        cluster = Cluster(queues={HOSTILE: 1})
        for gang in list(cluster.gangs.values()):
            del cluster.gangs[key(gang)]
            members = cluster.members.pop(key(gang))
            gang.update(namespace=HOSTILE, name=HOSTILE + gang["name"], message=HOSTILE + "\n" + HOSTILE, reason=HOSTILE, dialect=HOSTILE, schedulerName=HOSTILE)
            gang["why"] = {"kind": "nodes", "nodes": {"needed": 2, "fit": 1, "refused": {HOSTILE: 3}, "short": [{"resource": HOSTILE, "missing": "1"}]}}
            for member in members:
                member.update(name=HOSTILE, role=HOSTILE, message=HOSTILE)
            cluster.gangs[key(gang)], cluster.members[key(gang)] = gang, members
        for i, node in enumerate(cluster.nodes.values()):
            node.update(name=f"{HOSTILE}{i:03}", taints=[{"key": HOSTILE, "effect": "NoSchedule"}])
            node["labels"]["topology.kubernetes.io/rack"] = HOSTILE
            node["allocatable"] = {**node["allocatable"], HOSTILE: "7"}
            for holder in node["holders"]:
                holder.update(queue=HOSTILE, gang={"namespace": HOSTILE, "name": HOSTILE, "dialect": HOSTILE})
        page = self.open(cluster)
        name = next(iter(cluster.gangs.values()))["name"]
        path = "/".join(f"${{encodeURIComponent({json.dumps(one)})}}" for one in (HOSTILE, name))
        views = ["`#/waiting`", "`#/gangs`", f"`#/gangs/{path}`", "`#/queues`", f"`#/queues/${{encodeURIComponent({json.dumps(HOSTILE)})}}`", "`#/nodes?as=list`",
                 f"`#/nodes?node=${{encodeURIComponent({json.dumps(HOSTILE + '000')})}}&gang={path}`", "`#/time`"]
        for view in views:
            page.run(f"location.hash = {view}")
            page.until(f"document.querySelector('main').innerText.includes({json.dumps(HOSTILE)})", f"{view} shows the name as text")
            self.assertIsNone(page.run("window.hacked"))
            self.assertEqual(page.run("document.querySelectorAll('main img, main script, main iframe').length"), 0, view)

    def test_an_address_that_nobody_made_shows_a_view(self):
        page = self.open(view="#/%E0%A4%A/" + "x" * 5000)
        self.shows("Waiting", "gangs wait")
        self.go("#/gangs/%E0%A4%A/<script>alert(1)</script>?dialect=%00")
        self.shows("there is no gang")
        self.go("#/nodes?resource=nonsense&node=nowhere")
        self.shows("There is no node nowhere.")
        self.assertEqual(page.run("document.querySelectorAll('main script').length"), 0)


class Use(Console):
    def test_the_keyboard_goes_through_a_long_list(self):
        page = self.open(Cluster(nodes=64, gangs=500))
        page.until(f"{ROWS} > 10", "rows")
        page.run("document.querySelector('tbody:not(.space) th a').focus()")
        for _ in range(40):
            page.key("ArrowDown", number=40)
        number = "document.activeElement.closest('tr')?.getAttribute('aria-rowindex')"
        page.until(f"{number} == 42", "the 41st row has the keyboard")
        page.key("End", number=35)
        page.until(f"{number} == document.querySelector('table.list').getAttribute('aria-rowcount')", "the last row has it")
        page.key("Home", number=36)
        page.until(f"{number} == 2", "the first row has it")
        page.key("Enter", number=13, text="\r")
        page.until("location.hash.startsWith('#/gangs/')", "Enter opens the gang")

    def test_a_row_that_has_the_keyboard_keeps_it_while_it_is_out_of_sight(self):
        page = self.open(Cluster(nodes=64, gangs=500))
        page.until(f"{ROWS} > 10", "rows")
        page.run("document.querySelector('tbody:not(.space) th a').focus()")
        page.run("document.querySelector('.scroller').scrollTop = 1e9")
        page.until("!document.querySelector('tr[aria-rowindex=\"2\"]')", "the first row is out of sight")
        page.key("ArrowDown", number=40)
        page.until("document.activeElement.closest('tr')?.getAttribute('aria-rowindex') == 3", "the second row has the keyboard")

    def test_of_a_long_list_only_what_is_in_sight_is_in_the_document(self):
        page = self.open(Cluster(nodes=64, gangs=5000), view="#/gangs")
        self.shows("5,000 gangs")
        self.assertLess(page.run(ROWS), 100)
        page.run("document.querySelector('.scroller').scrollTop = 1e9")
        last = max(self.mock.cluster.gangs.values(), key=lambda gang: (gang["namespace"], gang["name"], gang["dialect"]))
        self.shows(last["name"])
        self.assertLess(page.run(ROWS), 100)

    def test_everything_that_takes_the_keyboard_has_a_name(self):
        page = self.open()
        gang = self.waiting()
        page.until(f"{ROWS} > 10", "rows")
        page.call("Accessibility.enable")
        for view in ("#/waiting", "#/gangs", f"#/gangs/{gang['namespace']}/{gang['name']}", "#/queues", "#/nodes", "#/nodes?as=list", "#/time"):
            self.go(view)
            page.until("document.querySelector('h1') && !document.body.innerText.includes('…\\n')", view)
            for node in page.call("Accessibility.getFullAXTree")["nodes"]:
                properties = {one["name"]: one["value"].get("value") for one in node.get("properties", [])}
                if properties.get("focusable") and not node.get("ignored") and node["role"]["value"] != "RootWebArea" and node["role"]["value"] != "main":
                    self.assertTrue(node.get("name", {}).get("value"), f"{view}: {node['role']} {node}")

    def test_it_is_dark_if_the_user_prefers_that(self):
        page = self.open()
        color = "getComputedStyle(document.body).backgroundColor"
        self.shows("Live")
        page.prefer(prefers_color_scheme="light")
        light = page.run(color)
        page.prefer(prefers_color_scheme="dark")
        self.assertNotEqual(page.run(color), light)

    def test_no_view_is_wider_than_a_phone(self):
        page = self.open(width=360)
        gang = self.waiting()
        for view in ("#/waiting", "#/gangs", f"#/gangs/{gang['namespace']}/{gang['name']}", "#/queues", "#/queues/research", "#/nodes", "#/nodes?node=gpu-001", "#/time"):
            self.go(view)
            page.until("document.querySelector('h1')", view)
            self.shows("Live")
            self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 360, view)
            self.assertLessEqual(page.run("document.querySelector('main').scrollWidth"), 360, view)


if __name__ == "__main__":
    if browser.find() is None:
        print("skipped: there is no Chromium; scripts/setup --browser installs it")
        sys.exit(77)
    unittest.main()
