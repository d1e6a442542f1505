// SPDX-License-Identifier: Apache-2.0
// Keeps a list of gangs equal to the scheduler's: lists them, follows the stream of changes, and begins again where it must.
//
// `state.phase` says how it stands:
//   connecting   nothing is known yet
//   live         changes come as they happen
//   lost         the connection was lost: what is shown is old, and another attempt comes at `retryAt`
//   standby      this process does not lead; `message` says which one does
//   sign-in      a token is needed, or the one given is not accepted
//   refused      the user may not see anything, or the scheduler has no such door
//   unavailable  it cannot answer now; another attempt comes at `retryAt`

import {ApiError} from "./api.js";

const firstDelay = 1000, longestDelay = 15_000;
const standbyDelay = 5000, refusedDelay = 30_000;
// A stream on which nothing comes for so long, not even a sign of life, is dead.
const silence = 90_000;

export class Connection {
  // Calls changed() whenever `state` or the gangs have changed.
  constructor(api, gangs, changed) {
    this.api = api;
    this.gangs = gangs;
    this.changed = changed;
    this.state = {phase: "connecting", message: "", retryAt: 0, listed: false};
    this.version = null;
    this.sequence = "0";
    this.delay = firstDelay;
    this.wake = () => {};
  }

  setState(phase, message = "", retryAt = 0) {
    this.state = {...this.state, phase, message, retryAt};
    this.changed();
  }

  signIn(token) {
    this.api.token = token;
    this.wake();
  }

  // Waits; signIn() ends the wait.
  pause(milliseconds) {
    return new Promise((resolve) => {
      this.wake = resolve;
      if (milliseconds !== Infinity) setTimeout(resolve, milliseconds);
    });
  }

  // Never returns.
  async run() {
    for (;;) {
      try {
        if (await this.list()) await this.follow();
      } catch (error) {
        await this.recover(error);
      }
    }
  }

  // Lists all gangs. False: this process does not lead.
  async list() {
    if (!this.state.listed) this.setState("connecting");
    this.version = await this.readVersion();
    if (this.version?.leading === false) {
      this.setState("standby", this.version.notLeading ?? "this process does not lead", Date.now() + standbyDelay);
      await this.pause(standbyDelay);
      return false;
    }
    const list = await this.api.get("gangs");
    this.sequence = list.sequence ?? "0";
    this.gangs.setAll(list.gangs ?? []);
    this.state.listed = true;
    this.changed();
    return true;
  }

  // Follows the changes, over as many streams as it takes. Returns when all gangs have to be listed again.
  async follow() {
    for (let again = false; ; again = true) {
      const stream = new AbortController();
      let heardAt = Date.now(), relist = false;
      const look = setInterval(() => {
        if (Date.now() - heardAt > silence) stream.abort();
      }, silence / 10);
      try {
        if (again && (await this.isAnother())) return;
        await this.api.watch("watch", {since: this.sequence}, stream.signal, {
          opened: () => {
            this.delay = firstDelay;
            this.setState("live");
          },
          alive: () => {
            heardAt = Date.now();
          },
          hear: ({data}) => {
            relist = !this.take(JSON.parse(data)) || relist;
          },
        });
      } catch (error) {
        await this.recover(error);
      } finally {
        clearInterval(look);
      }
      if (relist) return;
      await this.pause(firstDelay / 4);  // a stream that ends in order is opened again soon, but not in a tight loop
    }
  }

  // Returns the version; null: the user may see some namespaces alone, and not that.
  async readVersion() {
    try {
      return {leading: false, ...(await this.api.get("version"))};
    } catch (error) {
      if (error.status !== 403) throw error;
      return null;
    }
  }

  // Says whether another process may answer now, whose sequence numbers are its own.
  async isAnother() {
    const now = await this.readVersion();
    return now === null || now.started !== this.version?.started || !now.leading;
  }

  // Takes one change. False: changes are missing.
  take(change) {
    if (change.relist !== undefined) return false;
    if (change.gang) this.gangs.set(change.gang);
    if (change.gone) this.gangs.remove(change.gone);
    if (change.sequence !== undefined && change.sequence !== "0") this.sequence = change.sequence;
    this.changed();
    return true;
  }

  // Says what went wrong, and waits until another attempt makes sense.
  async recover(error) {
    if (error instanceof ApiError && error.status === 401) {
      this.setState("sign-in", this.api.token ? "The scheduler does not accept this token." : "");
      this.api.token = "";
      await this.pause(Infinity);
      return;
    }
    if (error instanceof ApiError && (error.status === 403 || error.status === 404)) {
      this.setState("refused", error.message, Date.now() + refusedDelay);
      await this.pause(refusedDelay);
      return;
    }
    const message = error instanceof ApiError ? error.message : "the connection was lost";
    this.setState(error.status === 503 ? "unavailable" : "lost", message, Date.now() + this.delay);
    const delay = this.delay;
    this.delay = Math.min(longestDelay, 2 * this.delay);
    await this.pause(delay);
  }
}
