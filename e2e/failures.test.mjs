// What could not be read says so, why, and how it is tried again: it is neither taken for nothing nor waited for without
// end, and what stands on a page from before does not pass for what is.

import assert from "node:assert/strict";
import { test } from "node:test";

import { accessible } from "./support/axe.mjs";
import { fits, screenshot } from "./support/browser.mjs";
import { PROJECT, story } from "./support/story.mjs";

const SCENARIO = "dispute_duplicate_cafe";
/** What Chromium itself reports of answers that are refused or do not come. */
const REPORTED = [/status of (401|403|404|500|503)/, /net::ERR_FAILED/];

let conversation;
let queue;
let corpus;
let paused;
const site = story({
  n: 12,
  seed: 3,
  demo: true,
  async prepare(site) {
    const [run] = (await site.ask("GET", `${PROJECT}/runs`)).items;
    conversation = (await site.ask("GET", `/runs/${run.id}/conversations`)).items[0].id;
    const held = { name: "Held", run: run.id, n: 2, blind: false };
    queue = (await site.ask("POST", `${PROJECT}/review-queues`, held)).id;
    corpus = (await site.ask("POST", `${PROJECT}/corpora`, { name: "all" })).id;
    await site.until(`/corpora/${corpus}`, ({ summary }) => summary.state === "ready");
    paused = (await site.ask("POST", `${PROJECT}/runs`, { n: 2, paused: true })).id;
  },
});

const visit = (address, look) => site.visit(address, look, { expected: REPORTED });

const problem = (status, title, detail) => ({
  status,
  contentType: "application/problem+json",
  json: { type: "about:blank", title, status, detail },
});

/**
 * Stands between a page and the server where `url` is asked for: lets answers pass, changes them, refuses, or gives none. It
 * goes over from one to the other at once, so that nobody who asks again and again sees anything between them.
 */
async function between(page, url) {
  let answer = (route) => route.continue();
  await page.route(url, (route) => answer(route));
  return {
    pass: () => (answer = (route) => route.continue()),
    refuse: (status) => (answer = (route) => route.fulfill(problem(status, "Refused", "it is no good"))),
    abort: () => (answer = (route) => route.abort()),
    change(how) {
      answer = async (route) => {
        const response = await route.fetch();
        const json = await response.json();
        how(json);
        await route.fulfill({ response, json });
      };
    },
  };
}

const UNANSWERED = [
  [401, /You are no longer signed in; this is the previous content\./],
  [403, /You may no longer see this\. .* Ask an admin of the project/],
  [404, /This no longer exists\. .* Choose from a list\./],
  [503, /It is no good\. .* The server's log says more\./],
];

/** A page says truthfully why what it looks at again and again does not come, and is silent once it does. */
async function tells(page, url, all) {
  const server = await between(page, url);
  const stale = page.locator(".stale").first();
  for (const [status, says] of all) {
    server.refuse(status);
    await stale.getByText(says).waitFor();
    assert.doesNotMatch(await stale.innerText(), /does not answer/);
    assert.equal(await stale.getByRole("link", { name: "Sign in again" }).count(), status === 401 ? 1 : 0);
  }
  server.abort();
  await stale.getByText("The server does not answer. This is its last answer").waitFor();
  server.pass();
  await stale.waitFor({ state: "detached" });
  return server;
}

test("the models say why they are not kept up, and lead whoever is signed out back", () =>
  visit("/models", async (page) => {
    await page.getByText("No models yet.").waitFor();
    const server = await tells(page, /\/api\/v1\/models$/, UNANSWERED);
    server.refuse(401);
    await page.getByText("You are no longer signed in").waitFor();
    await accessible(page);
    await fits(page);
    await screenshot(page, "stale");
    await page.getByRole("link", { name: "Sign in again" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get("back"), "/models");
  }));

test("a run that is followed says why its figures are old, also if its events break off", () =>
  visit(`${PROJECT}/runs/${paused}`, async (page) => {
    const run = new RegExp(`/api/v1/runs/${paused}$`);
    await page.locator("dl.strip").waitFor();
    // No events come through: it is asked for every few seconds.
    await page.route("**/progress", (route) => route.fulfill({ status: 503, body: "no" }));
    await page.reload();
    await page.locator("dl.strip").waitFor();
    const server = await tells(page, run, UNANSWERED);
    server.refuse(404);
    await page.locator(".stale").first().waitFor();
    await screenshot(page, "stale-run");
    await page.unroute(run);

    // They come, and break off again and again: the browser tries anew, and does not say why.
    await page.unroute("**/progress");
    await page.route("**/progress", (route) => route.fulfill({ contentType: "text/event-stream", body: ":\n\n" }));
    await page.reload();
    await page.locator("dl.strip").waitFor();
    await tells(page, run, UNANSWERED);
  }));

test("a conversation that is played says why it is followed no more", () =>
  visit(`${PROJECT}/conversations/${conversation}`, async (page) => {
    const url = new RegExp(`/api/v1/conversations/${conversation}$`);
    const plays = (json) => Object.assign(json.summary, { outcome: null, finished_at: null });
    const playing = page.locator(".verdict").getByText("unfinished", { exact: true });
    await page.locator(".bubble").first().waitFor();
    const server = await between(page, url);
    server.change(plays);
    await page.reload();
    await playing.waitFor();
    for (const [status, says] of UNANSWERED) {
      server.refuse(status);
      await page.locator(".stale").getByText(says).waitFor();
    }
    server.pass();
    await page.locator(".stale").waitFor({ state: "detached" });
    await playing.waitFor({ state: "detached" });
  }));

test("a queue that is rated says why its progress is old", () =>
  visit(`${PROJECT}/reviews/${queue}`, async (page) => {
    await page.getByRole("heading", { name: "Held", level: 1 }).waitFor();
    await tells(page, new RegExp(`/api/v1/review-queues/${queue}$`), UNANSWERED);
  }));

test("what is built says why nothing more is heard of it, in lists and on its page", async () => {
  const building = (summary) => Object.assign(summary, { state: "building" });
  for (const [address, url, change] of [
    ["/corpora", /\/api\/v1\/projects\/default\/corpora(\?|$)/, ({ items }) => items.forEach(building)],
    [`/corpora/${corpus}`, new RegExp(`/api/v1/corpora/${corpus}$`), ({ summary }) => building(summary)],
  ]) {
    await visit(`${PROJECT}${address}`, async (page) => {
      await page.getByText("ready", { exact: true }).first().waitFor();
      const server = await between(page, url);
      server.change(change);
      await page.reload();
      await page.getByText("building", { exact: true }).first().waitFor();
      for (const [status, says] of UNANSWERED) {
        server.refuse(status);
        await page.locator(".stale").getByText(says).waitFor();
      }
      server.pass();
      await page.getByText("ready", { exact: true }).first().waitFor();
      assert.equal(await page.locator(".stale").count(), 0);
    });
  }
});

const lastTurn = (page) => page.locator(".turn.agent").last();

/** Opens one of the forms of the agent's last turn. */
async function at(page, form) {
  const turn = lastTurn(page);
  await turn.hover();
  await turn.getByRole("button", { name: form }).click();
}

const region = (name) => (page) => page.getByRole("region", { name, exact: true });

/**
 * What is asked for at an address (`asks`) of a page (`of`), which is got ready by `open`; `within` which part it is missed,
 * what this part must not say then (`claims`), and what is there once it was read.
 */
const PLACES = [
  {
    what: "annotations",
    asks: /\/api\/v1\/conversations\/[^/]+\/annotations$/,
    of: () => `${PROJECT}/conversations/${conversation}?panel=people`,
    within: region("Annotations"),
    claims: "No annotations yet",
    then: (part) => part.getByText("No annotations yet"),
  },
  {
    what: "corrections",
    asks: /\/api\/v1\/conversations\/[^/]+\/corrections$/,
    of: () => `${PROJECT}/conversations/${conversation}?panel=people`,
    within: region("Corrections"),
    claims: "No corrections yet",
    then: (part) => part.getByText("No corrections yet"),
  },
  {
    what: "a turn that is to be corrected",
    asks: /\/api\/v1\/conversations\/[^/]+\/corrections$/,
    of: () => `${PROJECT}/conversations/${conversation}`,
    open: (page) => at(page, "Correct"),
    within: lastTurn,
    claims: "Loading",
    then: (part) => part.getByLabel("What it should have said"),
  },
  {
    what: "the models that a branch may go on with",
    asks: /\/api\/v1\/models$/,
    of: () => `${PROJECT}/conversations/${conversation}`,
    open: (page) => at(page, "Branch"),
    within: (page) => page.getByRole("form", { name: "Branch" }),
    then: (part) => part.getByLabel("Agent from here on"),
  },
  {
    what: "the persona model, for a profile",
    asks: /\/api\/v1\/projects\/default\/personas\/model$/,
    of: () => `${PROJECT}/personas/newcomer`,
    within: (page) => page.getByRole("tabpanel", { name: "Profile" }),
    claims: "Loading",
    then: (part) => part.getByRole("heading", { name: "Behaviour" }),
  },
  {
    what: "a scenario's playbook",
    asks: /\/api\/v1\/projects\/default\/playbooks\/retail_bank$/,
    of: () => `${PROJECT}/scenarios/${SCENARIO}`,
    within: (page) => page.getByRole("complementary", { name: "Beside the text" }),
    then: (part) => part.getByRole("tree", { name: "The initial world" }),
  },
  {
    what: "scenarios that are alike",
    asks: new RegExp(`/api/v1/projects/default/scenarios/(?!${SCENARIO})[^/?]+$`),
    of: () => `${PROJECT}/scenarios/${SCENARIO}?side=similar`,
    within: (page) => page.getByRole("complementary", { name: "Beside the text" }),
    claims: /^…$/,
    then: (part) => part.getByRole("cell", { name: /^\d+(\.\d)? %$/ }).first(),
  },
  {
    what: "the playbooks that a list is narrowed to",
    asks: /\/api\/v1\/projects\/default\/playbooks\?/,
    of: () => `${PROJECT}/scenarios`,
    within: (page) => page.getByRole("search"),
    then: (part) => part.getByLabel("Playbook"),
  },
  {
    what: "who may rate",
    asks: /\/api\/v1\/projects\/default\/members$/,
    of: () => `${PROJECT}/reviews/${queue}`,
    within: (page) => page.locator("#panel-items"),
    then: (part) => part.getByLabel("Assign conversation 1 to"),
  },
  {
    what: "the versions of a document that is gone",
    asks: /\/api\/v1\/projects\/default\/scenarios\/no_such\/versions/,
    of: () => `${PROJECT}/scenarios/no_such`,
    within: (page) => page.getByRole("main"),
    then: (part) => part.getByRole("heading", { name: /^There is no / }),
  },
];

for (const { what, asks, of, open = () => {}, within, claims, then } of PLACES) {
  test(`what fails is said and tried again: ${what}`, () =>
    visit("/projects", async (page) => {
      const server = await between(page, asks);
      server.abort();
      await page.goto(of());
      await open(page);
      const part = within(page);
      const failure = part.getByRole("alert").filter({ hasText: "The server does not answer." });
      await failure.waitFor();
      await accessible(page);
      if (claims) assert.equal(await part.getByText(claims).filter({ visible: true }).count(), 0, claims);
      await fits(page);
      server.pass();
      // By keyboard: a toast may lie over it.
      await failure.getByRole("button", { name: "Try again" }).press("Enter");
      await failure.waitFor({ state: "detached" });
      await then(part).waitFor();
    }));
}

test("a persona model that is none says so, and leads to it", () =>
  visit("/projects", async (page) => {
    const server = await between(page, /\/api\/v1\/projects\/default\/personas\/model$/);
    server.change(({ files }) => {
      for (const path of Object.keys(files)) files[path] = "nonsense: true\n";
    });
    await page.goto(`${PROJECT}/personas/newcomer`);
    const panel = page.getByRole("tabpanel", { name: "Profile" });
    await panel.getByRole("alert").getByText("The persona model cannot be read.").waitFor();
    await accessible(page);
    await panel.getByRole("link", { name: "its own page" }).click();
    await page.waitForURL("**/personas/model");
  }));

test("a change that fails says what to do, as an alert that stays until it is dismissed", () =>
  visit(`${PROJECT}/reviews/${queue}`, async (page) => {
    const url = new RegExp(`/api/v1/review-queues/${queue}$`);
    await page.route(url, (route) => {
      if (route.request().method() !== "PATCH") return route.fallback();
      return route.fulfill(problem(500, "Internal Server Error", "it broke"));
    });
    const instructions = page.getByRole("textbox", { name: "Instructions" });
    await page.getByRole("button", { name: "Write instructions" }).click();
    await instructions.fill("Read it all.");
    const save = page.getByRole("button", { name: "Save", exact: true });
    await save.click();
    const alert = page.getByRole("alert").filter({ hasText: "It broke. The server's log says more." });
    await alert.waitFor();
    await accessible(page);
    assert.equal(await instructions.inputValue(), "Read it all.");
    await screenshot(page, "failed-save");
    // What goes well is shown for 8 seconds.
    await page.waitForTimeout(9_000);
    assert.ok(await alert.isVisible(), "it waits for whoever reads it");
    await save.click();
    await page.waitForTimeout(500);
    assert.equal(await alert.count(), 1, "the same is said once");
    await alert.getByRole("button", { name: "Dismiss" }).click();
    await alert.waitFor({ state: "detached" });
    await page.unroute(url);
    await save.click();
    await page.getByText("The instructions are saved.").waitFor();
  }));

test("an editor that cannot know all names and rules says that it completes less, and learns them later", () =>
  visit(`${PROJECT}/scenarios`, async (page) => {
    const schemas = await between(page, /\/api\/v1\/schemas\//);
    schemas.abort();
    await page.goto(`${PROJECT}/scenarios/${SCENARIO}`);
    const less = page.getByText("The editor cannot offer all completions. The server does not answer.");
    await less.waitFor();
    await accessible(page);
    schemas.pass();
    await page.getByRole("button", { name: "Try again" }).click();
    await less.waitFor({ state: "detached" });
  }));

test("caps that cannot be read are not taken for none", () =>
  visit(`${PROJECT}/runs/${paused}`, async (page) => {
    await page.locator("dl.strip").waitFor();
    const terms = await between(page, new RegExp(`/runs/${paused}/config$`));
    terms.refuse(500);
    await page.getByRole("button", { name: "Priority and caps" }).click();
    const dialog = page.getByRole("dialog", { name: "Priority and caps" });
    await dialog.getByRole("alert").getByText("It is no good", { exact: false }).or(dialog.getByText("it is no good")).first().waitFor();
    assert.equal(await dialog.getByRole("button", { name: "Save" }).count(), 0);
    terms.pass();
    await dialog.getByRole("button", { name: "Try again" }).click();
    await dialog.getByRole("button", { name: "Save" }).waitFor();
  }));

test("a conversation whose neighbours cannot be read says so, and finds them when it is asked again", () =>
  visit(`${PROJECT}/conversations`, async (page) => {
    const neighbours = await between(page, /\/neighbours/);
    neighbours.refuse(500);
    await page.goto(`${PROJECT}/conversations/${conversation}`);
    await page.getByText("it is no good").first().waitFor();
    assert.equal(await page.getByRole("link", { name: "Next →" }).count(), 0);
    neighbours.pass();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("navigation", { name: "Neighbours in the list" }).getByRole("link").first().waitFor();
  }));
