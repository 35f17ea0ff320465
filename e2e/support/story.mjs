// What the tests of a file share: a server with data of its own, a browser, and an administrator who is signed in.

import { after, before } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { startBrowser, visit } from "./browser.mjs";
import { NOBODY_YET, firstStart } from "./people.mjs";
import { startServer } from "./server.mjs";

/** The one that `generate` plays in: its address in the app, and below the API's. */
export const PROJECT = "/projects/default";

const UNTIL_LIMIT_MS = 60_000;

/** A site that is there for all tests of the file, from the first to the last. */
export function story(options = {}) {
  const site = new Site(options);
  before(() => site.start());
  after(() => site.stop());
  return site;
}

export class Site {
  #play;
  #demo;
  #prepare;
  #looks;
  #administrated;
  #flags;
  #browser;
  #storageState;

  /**
   * `n`, `seed`, `playbook` and `args` say what is played; `demo` loads the demo documents; `prepare(site)` adds what
   * the tests need besides; `administrated: false` leaves the first link to them; `flags` are the browser's. All else are
   * options of every visit.
   */
  constructor({ n = 1, seed = 3, playbook, args, demo, prepare = () => {}, administrated = true, flags, ...looks }) {
    this.#play = { n, seed, playbook, args };
    this.#demo = demo;
    this.#prepare = prepare;
    this.#looks = looks;
    this.#administrated = administrated;
    this.#flags = flags;
  }

  async start() {
    this.server = await startServer(this.#play);
    this.#browser = await startBrowser(this.#flags);
    if (this.#administrated) {
      this.#storageState = await firstStart(this.#browser, this.server);
    }
    if (this.#demo) {
      await this.ask("POST", `${PROJECT}/demo`, {});
    }
    await this.#prepare(this);
  }

  async stop() {
    await this.#browser?.close();
    await this.server?.stop();
  }

  get url() {
    return this.server.url;
  }

  /** An address, as the administrator sees it. The page's own `goto` understands addresses of the site, too. */
  visit(address, look, options = {}) {
    const url = new URL(address, this.url).href;
    const mine = { baseURL: this.url, storageState: this.#storageState, said: this.server.said };
    return visit(this.#browser, url, look, { ...mine, ...this.#looks, ...options });
  }

  /** An address in a fresh browser, which nobody is signed in to. */
  stranger(address, look, { expected = [], ...options } = {}) {
    return this.visit(address, look, { ...options, storageState: undefined, expected: [NOBODY_YET, ...expected] });
  }

  /** What the API answers to the administrator, read; an error if it refuses. */
  async ask(method, path, body) {
    const cookie = this.#storageState.cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
    const headers = { cookie, "content-type": "application/json" };
    if (method !== "GET") {
      headers["x-csrf-token"] = (await this.ask("GET", "/session")).csrf_token;
    }
    const answer = await fetch(`${this.url}/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) {
      throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    }
    return text === "" ? null : JSON.parse(text);
  }

  /** Asks until what is answered is as it should be. */
  async until(path, isThere) {
    const end = Date.now() + UNTIL_LIMIT_MS;
    for (;;) {
      const found = await this.ask("GET", path);
      if (isThere(found)) {
        return found;
      }
      if (Date.now() > end) {
        throw new Error(`${path} is still ${JSON.stringify(found).slice(0, 500)}`);
      }
      await pause(200);
    }
  }
}
