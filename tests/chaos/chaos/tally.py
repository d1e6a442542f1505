# SPDX-License-Identifier: Apache-2.0
"""What a run has shown, and what it has not."""

import collections
import statistics

TAKEOVER_SECONDS = 5  # far from a moment, and still less than until the lease would have run out


class Tally:
    def __init__(self, kinds):
        self._kinds = kinds
        self.done, self.cut_short = collections.Counter(), collections.Counter()
        self.expired = 0     # watches whose history was gone
        self.takeovers = []  # seconds from the end of a leader that was asked to stop until its standby had the lease
        self.handovers = 0   # of the lease from one replica to the other, as the audit log has them

    def missing(self):
        return [kind for kind in self._kinds if not self.done[kind]]

    def lacking(self):
        """What must have happened for the run to mean what it says."""
        found = [f"never done: {kind.replace('_', ' ')}" for kind in self.missing()]
        found += ["no watch was given up because its history was gone (410)"] * (not self.expired)
        found += ["no takeover from a leader that was asked to stop was timed"] * (not self.takeovers)
        return found

    def unshown(self):
        """The same, once it is over."""
        return self.lacking() + ["the audit log shows no handover of the lease"] * (not self.handovers)

    def slow(self):
        """A lease that is given up is taken at once: the standby need not wait until it would have run out."""
        if self.takeovers and statistics.median(self.takeovers) > TAKEOVER_SECONDS:
            yield f"a lease that was given up was taken after {statistics.median(self.takeovers):.2f} s, by the median"

    def lines(self):
        for kind in self._kinds:
            yield f"  {kind.replace('_', ' '):20} {self.done[kind]:4} done {self.cut_short[kind]:4} cut short"
        yield f"watches given up because their history was gone (410): {self.expired}"
        if self.takeovers:
            yield (f"from the end of a stopped leader until the other had the lease: median "
                   f"{statistics.median(self.takeovers):.2f} s, most {max(self.takeovers):.2f} s, of {len(self.takeovers)}")
        yield f"handovers of the lease in the audit log: {self.handovers}"
