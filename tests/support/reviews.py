# SPDX-License-Identifier: Apache-2.0
"""An API server that answers TokenReviews and SubjectAccessReviews alone."""

import json

from serving import Quiet


class Reviews(Quiet):
    """A subclass says whose token it is, and what users may list."""

    protocol_version = "HTTP/1.1"

    @staticmethod
    def user_of(token):
        """The user's name; None: there is none."""
        raise NotImplementedError

    @staticmethod
    def is_admin(user):
        """Whether the user may do everything."""
        raise NotImplementedError

    @staticmethod
    def namespaces_of(user):
        """Those whose pods the user may list."""
        raise NotImplementedError

    def do_POST(self):
        review = json.loads(self.body())
        spec = review["spec"]
        if review["kind"] == "TokenReview":
            name = self.user_of(spec["token"])
            review["status"] = {"authenticated": True, "user": {"username": name}} if name else {}
        else:
            asked = spec.get("resourceAttributes", {})
            lists = (asked.get("resource"), asked.get("verb")) == ("pods", "list")
            seen = lists and asked.get("namespace") in self.namespaces_of(spec["user"])
            review["status"] = {"allowed": self.is_admin(spec["user"]) or seen}
        self.send(201, json.dumps(review).encode())
