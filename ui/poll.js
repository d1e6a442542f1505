// SPDX-License-Identifier: Apache-2.0
// An answer that is asked for again: when the scheduler's state has changed, no more often than its pace, and the less
// often the longer it takes.

// Without a sign of change it is asked for again after so many paces: not all that it shows makes a change.
const unchangedPaces = 6;
const restFor = 10;  // times as long as the answer took

export class Poll {
  // `get` returns a promise of the result. `result` is that, or {error: {status, message}}, or undefined at first.
  constructor(get, changed) {
    this.get = get;
    this.changed = changed;
    this.result = undefined;
    this.version = 0;
    this.under = false;
    this.next = 0;
    this.asked = {at: -Infinity, sequence: undefined};
  }

  ask(sequence, pace) {
    const now = performance.now();
    const after = this.asked.sequence === sequence ? unchangedPaces * pace : pace;
    if (this.under || now < Math.max(this.next, this.asked.at + after)) return;
    this.asked = {at: now, sequence};
    this.under = true;
    this.get().then(
      (result) => this.set(result),
      (error) => this.set({...this.result, error: {status: error.status ?? 0, message: error.message}})
    ).finally(() => {
      this.under = false;
      this.next = performance.now() + restFor * (performance.now() - now);
    });
  }

  set(result) {
    this.result = result;
    this.version += 1;
    this.changed();
  }
}
