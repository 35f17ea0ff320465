// Every page, light and dark, as axe sees it: nothing serious may be wrong with it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { accessible } from "./support/axe.mjs";
import { NARROW_DARK, fits, screenshot } from "./support/browser.mjs";
import { PROJECT, story } from "./support/story.mjs";

/** Name of a page -> its address. */
let pages;
const site = story({
  n: 12,
  seed: 3,
  demo: true,
  prepare: async () => {
    pages = await addresses();
  },
});

/** One address of each page, of a project that has something of everything. */
async function addresses() {
  const runs = await site.ask("GET", `${PROJECT}/runs`);
  const run = runs.items[0].id;
  const conversations = await site.ask("GET", `/runs/${run}/conversations`);
  const another = await site.ask("POST", `${PROJECT}/runs`, { playbooks: ["retail_bank"], n: 4, seed: 9 });
  await site.until(`/runs/${another.id}`, (found) => found.state === "finished");
  const [conversation, rated] = conversations.items.map(({ id }) => id);
  const corpus = await site.ask("POST", `${PROJECT}/corpora`, { name: "all" });
  await site.until(`/corpora/${corpus.id}`, (found) => found.summary.state === "ready");
  const queue = await site.ask("POST", `${PROJECT}/review-queues`, { name: "first", conversations: [conversation] });
  await site.ask("POST", `${PROJECT}/validations`, { similar_goal: 0.6 });
  await site.ask("PUT", `/conversations/${rated}/ratings`, { scores: { overall: 6 }, goal_achieved: true });
  const [calibration] = await site.ask("POST", `${PROJECT}/calibrations`, { run });
  const spec = { source: { run: { id: run } }, profile: "canonical" };
  const exported = await site.ask("POST", `${PROJECT}/exports`, spec);
  await site.until(`/exports/${exported.id}`, (found) => found.state === "ready");
  const below = {
    overview: "",
    scenarios: "/scenarios",
    scenario: "/scenarios/help_card_abroad",
    "scenario-versions": "/scenarios/help_card_abroad?tab=versions",
    "scenario-used-by": "/scenarios/help_card_abroad?tab=used-by",
    "scenario-play": "/scenarios/help_card_abroad?side=play",
    "scenario-similar": "/scenarios/help_card_abroad?side=similar",
    validation: "/validation",
    playbooks: "/playbooks",
    playbook: "/playbooks/retail_bank",
    "playbook-tools": "/playbooks/retail_bank?tab=tools",
    "playbook-try": "/playbooks/retail_bank?tab=try",
    "playbook-prompts": "/playbooks/retail_bank?tab=prompts",
    "playbook-versions": "/playbooks/retail_bank?tab=versions",
    "playbook-used-by": "/playbooks/retail_bank?tab=used-by",
    personas: "/personas",
    persona: "/personas/busy_professional",
    "persona-compare": "/personas/busy_professional?tab=compare&with=newcomer",
    "persona-source": "/personas/busy_professional?tab=source",
    "persona-model": "/personas/model",
    "persona-versions": "/personas/busy_professional?tab=versions",
    "persona-used-by": "/personas/busy_professional?tab=used-by",
    judges: "/judges",
    judge: "/judges/default",
    "judge-versions": "/judges/default?tab=versions",
    "judge-used-by": "/judges/default?tab=used-by",
    runs: "/runs",
    launch: "/runs/new",
    run: `/runs/${run}`,
    "run-conversations": `/runs/${run}?tab=conversations`,
    "run-judgings": `/runs/${run}?tab=judgings`,
    "run-configuration": `/runs/${run}?tab=configuration`,
    "run-analytics": `/runs/${run}/analytics`,
    "run-comparison": `/runs/${run}/analytics?with=${another.id}`,
    conversations: "/conversations",
    conversation: `/conversations/${conversation}`,
    "conversation-world": `/conversations/${conversation}?panel=world`,
    "conversation-people": `/conversations/${rated}?panel=people`,
    "conversation-raw": `/conversations/${conversation}?panel=raw`,
    reviews: "/reviews",
    "reviews-disagreements": "/reviews?part=disagreements",
    "reviews-calibrations": "/reviews?part=calibrations",
    "queue-new": "/reviews/new",
    queue: `/reviews/${queue.id}`,
    "queue-agreement": `/reviews/${queue.id}?part=agreement`,
    rate: `/reviews/${queue.id}/rate`,
    calibration: `/calibrations/${calibration.id}`,
    corpora: "/corpora",
    "corpus-new": "/corpora/new",
    corpus: `/corpora/${corpus.id}`,
    "corpus-conversations": `/corpora/${corpus.id}?tab=conversations`,
    "corpus-manifest": `/corpora/${corpus.id}?tab=manifest`,
    "corpus-analytics": `/corpora/${corpus.id}?tab=analytics`,
    exports: "/exports",
    "export-new": `/exports/new?run=${run}`,
    export: `/exports/${exported.id}`,
    members: "/members",
    "project-audit": "/audit",
  };
  const all = Object.entries(below).map(([name, path]) => [name, `${PROJECT}${path}`]);
  const installation = ["projects", "models", "workers", "tokens", "people", "audit"].map((name) => [name, `/${name}`]);
  return new Map([...all, ...installation]);
}

/** Looks at each page when nothing that it fetches is on its way any more. */
function everyPage(told, options, look) {
  test(told, async (t) => {
    for (const [name, address] of pages) {
      const settled = async (page) => {
        await page.locator("main h1, main h2").first().waitFor();
        await page.waitForFunction(() => document.querySelectorAll("main .loading, main .awaited").length === 0);
        assert.equal(await page.getByText("There is no page at this address.").count(), 0, address);
        await look(page, name);
      };
      await t.test(name, () => site.visit(address, settled, options));
    }
  });
}

everyPage("axe finds nothing serious on any page", {}, async (page, name) => {
  await accessible(page);
  await screenshot(page, `${name}-light`);
});

everyPage("nor on a narrow, dark screen, on which no page scrolls sideways", NARROW_DARK, async (page, name) => {
  await accessible(page);
  await fits(page);
  await screenshot(page, `${name}-dark`);
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing serious where nobody is signed in, or nothing is, ${colorScheme}`, async () => {
    const link = await site.server.run("users", "create", `guest-${colorScheme}`, "--url", site.url);
    const looks = async (page, name) => {
      await accessible(page);
      await screenshot(page, `${name}-${colorScheme}`);
    };
    const form = (name, heading) => async (page) => {
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      await looks(page, name);
    };
    await site.stranger("/sign-in", form("sign-in", "Sign in"), { colorScheme });
    await site.stranger(link.trim(), form("welcome", "Welcome to Groundstate"), { colorScheme });
    await site.visit("/nowhere", form("missing", "There is no page at this address."), { colorScheme });
  });

  test(`axe finds nothing serious in the list of shortcuts, ${colorScheme}`, () =>
    site.visit(
      pages.get("conversation"),
      async (page) => {
        await page.locator(".bubble.user").first().waitFor();
        await page.keyboard.press("?");
        await page.getByRole("dialog", { name: "Keyboard" }).getByText("Next turn").waitFor();
        await accessible(page);
      },
      { colorScheme },
    ));
}

/** Address of a page -> of what, the button that opens a dialog or asks a question, and what that is called. */
const dialogs = (visitor, token) => ({
  "/projects": [["", "Make a project", "Make a project"]],
  "/models": [
    ["", "Add a model", "Add a model"],
    ["", "Edit", "Edit house"],
    ["", "Remove …", "Remove house?"],
  ],
  "/workers": [["", "Add a worker", "Add a worker"]],
  "/tokens": [
    ["", "Make a token", "Make a token"],
    ["", `Withdraw ${token}`, `Withdraw ${token}?`],
  ],
  "/people": [
    ["", "Invite somebody", "Invite somebody"],
    [visitor, "Disable …", `Disable ${visitor}?`],
  ],
  [`${PROJECT}/members`]: [["", `Remove ${visitor}`, `Remove ${visitor} from the project?`]],
  [pages.get("export")]: [["", "Delete", "Delete the export?"]],
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing serious in what is asked before something is made, changed or removed, ${colorScheme}`, async () => {
    await site.ask("PUT", "/models/house", { replicas: ["http://127.0.0.1:9/v1"] });
    const visitor = `visitor-${colorScheme}`;
    await site.server.run("users", "create", visitor, "--url", site.url);
    await site.ask("PUT", `${PROJECT}/members/${visitor}`, { role: "viewer" });
    await site.ask("POST", "/tokens", { name: `nightly-${colorScheme}`, scopes: ["run"] });
    const options = { colorScheme, expected: [/Failed to fetch/] };
    await site.visit("/projects", async (page) => {
      for (const [address, opened] of Object.entries(dialogs(visitor, `nightly-${colorScheme}`))) {
        await page.goto(address);
        for (const [row, button, name] of opened) {
          const within = row ? page.locator("tr, li, section", { hasText: row }).last() : page;
          await within.getByRole("button", { name: button, exact: true }).first().click();
          const dialog = page.getByRole("dialog", { name, exact: true });
          await dialog.waitFor();
          await accessible(page);
          await page.setViewportSize({ width: 360, height: 740 });
          await fits(page, name);
          await page.setViewportSize({ width: 1280, height: 800 });
          await page.keyboard.press("Escape");
          await dialog.waitFor({ state: "hidden" });
        }
      }
    }, options);
  });
}
