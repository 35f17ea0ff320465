// Every page, light and dark, as axe sees it: nothing serious may be wrong with it. PICTURES=1 keeps what each looks like.

import assert from "node:assert/strict";
import { test } from "node:test";

import { addresses } from "./support/addresses.mjs";
import { accessible } from "./support/axe.mjs";
import { NARROW, WIDE, fits, picture, screenshot, settled } from "./support/browser.mjs";
import { PROJECT, story } from "./support/story.mjs";

/** Name of a page -> its address. */
let pages;
const site = story({
  n: 12,
  seed: 3,
  demo: true,
  prepare: async (site) => {
    pages = await addresses(site);
  },
});

/** One page is of what was deleted. */
const EXPECTED = [/404.*claim_wrong_date/];

test("axe finds nothing serious on any page, nor on a narrow, dark screen, on which no page scrolls sideways", (t) =>
  site.visit(
    "/projects",
    async (page) => {
      for (const [name, address] of pages) {
        await t.test(name, async () => {
          await page.setViewportSize(WIDE.viewport);
          await page.emulateMedia({ colorScheme: "light" });
          await page.goto(address);
          await settled(page);
          assert.equal(await page.getByText("There is no page at this address.").count(), 0, address);
          await accessible(page);
          await picture(page, `${name}-light`);
          await page.setViewportSize(NARROW.viewport);
          await page.emulateMedia({ colorScheme: "dark" });
          await settled(page);
          await accessible(page);
          await fits(page);
          await picture(page, `${name}-dark`);
        });
      }
    },
    { expected: EXPECTED },
  ));

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
    ["", `Delete ${token}`, `Delete ${token}?`],
  ],
  "/people": [
    ["", "Invite somebody", "Invite somebody"],
    [visitor, "Disable …", `Disable ${visitor}?`],
  ],
  [`${PROJECT}/members`]: [["", `Remove ${visitor}`, `Remove ${visitor} from the project?`]],
  [pages.get("export")]: [["", "Delete", "Delete the export?"]],
  [pages.get("dataset")]: [["", "Delete", "Delete the dataset?"]],
  [pages.get("dataset-new")]: [["", "Delete the upload of questions.jsonl.gz", "Delete the upload?"]],
  [pages.get("index")]: [["", "Delete", "Delete the index?"]],
  [pages.get("environment")]: [["", "Delete …", "Delete bank?"]],
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
