// Documents, as their authors work with them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { accessible } from "./support/axe.mjs";
import { NARROW_DARK, fits, screenshot, settled } from "./support/browser.mjs";
import { choosePassword } from "./support/people.mjs";
import { PROJECT, story } from "./support/story.mjs";

const SCENARIO = "dispute_duplicate_cafe";

const site = story();

/** The text field of the code editor, once it is there. */
async function editor(page) {
  const content = page.locator("#panel-source .cm-content");
  await content.waitFor();
  return content;
}

/** Puts the cursor at the end of the line that holds `text`, and types. */
async function typeAfter(page, text, typed) {
  const content = await editor(page);
  await content.locator(".cm-line", { hasText: text }).first().click();
  await page.keyboard.press("End");
  await page.keyboard.type(typed);
}

/** Gives up what is not saved, once that is asked. */
async function discard(page, button) {
  await page.getByRole("button", { name: button }).click();
  await page.getByRole("dialog", { name: "Discard your changes" }).getByRole("button", { name: "Discard" }).click();
}

const checked = (page) => page.locator(".problems [role=status]").filter({ hasNotText: "so far" }).waitFor();

test("every list and form of an empty project leads to what fills it", async () => {
  await site.ask("POST", "/projects", { name: "bare" });
  await site.visit("/projects/bare/members", async (page) => {
    const main = page.getByRole("main");
    const lists = page.getByRole("navigation", { name: "Project" }).getByRole("link");
    await lists.last().waitFor();
    for (const list of await lists.all()) {
      const name = await list.innerText();
      const title = await page.title();
      await list.click();
      await page.waitForFunction((before) => document.title !== before, title);
      await settled(page);
      const empty = main.locator(".notice, .introduction").first();
      await empty.waitFor();
      // Some lists have the button for the first one above them.
      const ways = empty.locator("a[href], button").or(main.locator("header, .above").locator("a.button, button"));
      assert.ok((await ways.count()) > 0, `${name} leads nowhere: ${await empty.innerText()}`);
    }

    await lists.filter({ hasText: "Exports" }).click();
    await page.getByRole("link", { name: "New export" }).click();
    const way = { name: "Start a run" };
    await main.getByText("There is no run or corpus to export yet.").getByRole("link", way).waitFor();
    await lists.filter({ hasText: "Datasets" }).click();
    await page.getByRole("link", { name: "New dataset" }).click();
    await page.getByRole("tab", { name: "A run, a corpus or an export" }).click();
    await main.getByText("There is no run, corpus or export yet.").getByRole("link", way).click();
    await page.getByRole("heading", { name: "There is nothing to play yet." }).waitFor();
    await main.getByRole("button", { name: "Load the demo documents" }).waitFor();

    const [{ id }] = (await site.ask("GET", `${PROJECT}/runs`)).items;
    await page.goto(`${PROJECT}/runs/${id}/analytics`);
    await main.getByText("The project has no other run yet.").getByRole("link", way).click();
    await page.waitForURL("**/runs/new");
  });
});

// The tests below are one story: the documents that the first one loads are there for the others.

test("an empty project says how it is filled, and is", () =>
  site.visit(`${PROJECT}/scenarios`, async (page) => {
    const fill = page.getByRole("button", { name: "Load the demo documents" });
    await fill.waitFor();
    await screenshot(page, "scenarios-empty");
    await fill.click();
    await page.locator("table.documents tbody tr").first().waitFor();
  }));

test("a list is searched, and the address keeps what is looked for", () =>
  site.visit(`${PROJECT}/scenarios`, async (page) => {
    const rows = page.locator("table.documents tbody tr");
    await rows.first().waitFor();
    assert.ok((await rows.count()) > 20);
    await page.getByLabel("Search").fill("duplicate_cafe");
    await page.waitForURL("**/scenarios?search=duplicate_cafe");
    await page.waitForFunction(() => document.querySelectorAll("table.documents tbody tr").length === 1);
    await screenshot(page, "scenarios");
    await rows.first().getByRole("link").click();
    await page.getByRole("heading", { name: SCENARIO, level: 1 }).waitFor();
    await page.goBack();
    await page.waitForFunction(() => document.querySelectorAll("table.documents tbody tr").length === 1);
  }));

test("each choice of a list is a step on the way back, and the search says what is looked for", () =>
  site.visit(`${PROJECT}/scenarios`, async (page) => {
    await page.locator("table.documents tbody tr").first().waitFor();
    const form = page.getByRole("search");
    const search = form.getByLabel("Search");
    /** What the address looks for, and that the fields say the same. */
    const shows = (wanted) =>
      page.waitForFunction((wanted) => {
        const asked = Object.fromEntries(new URL(location.href).searchParams);
        const [typed, ...chosen] = document.querySelectorAll(".document-filters :is(input, select)");
        const said = { search: typed.value, playbook: chosen[0].value, state: chosen[1].value };
        const same = ([name, value]) => value === (asked[name] ?? "") && value === (wanted[name] ?? "");
        return Object.entries(said).every(same);
      }, wanted);
    await form.getByLabel("Playbook").selectOption("retail_bank");
    await shows({ playbook: "retail_bank" });
    await search.pressSequentially("duplicate");
    await shows({ playbook: "retail_bank", search: "duplicate" });
    await form.getByLabel("State").selectOption("used");
    await shows({ playbook: "retail_bank", search: "duplicate", state: "used" });
    await page.goBack();
    await shows({ playbook: "retail_bank", search: "duplicate" });
    await page.goBack();
    await shows({});
    await page.goForward();
    await shows({ playbook: "retail_bank", search: "duplicate" });
  }));

test("problems are found while somebody types, and lead to their line", () =>
  site.visit(`${PROJECT}/scenarios/${SCENARIO}`, async (page) => {
    await typeAfter(page, "intent: card_dispute", "x");
    const problem = page.locator(".problems button", { hasText: "did you mean `card_dispute`" });
    await problem.waitFor();
    await page.locator("#panel-source .cm-lintRange-error").first().waitFor();
    await page.getByText("not saved").first().waitFor();
    await checked(page);
    await screenshot(page, "scenario-problem");
    const promote = page.getByRole("button", { name: "Save and promote" });
    assert.ok(await promote.isDisabled(), "what has errors is not promoted");
    assert.match(await promote.getAttribute("title"), /correct the errors first/);
    assert.ok(await page.getByRole("button", { name: "Save draft" }).isEnabled());
    await (await editor(page)).locator(".cm-line").first().click();
    await problem.click();
    await page.keyboard.press("End");
    await page.keyboard.press("Backspace");
    await problem.waitFor({ state: "detached" });
    await checked(page);
  }));

test("very many problems come a page at a time", () =>
  site.visit(`${PROJECT}/scenarios/${SCENARIO}`, async (page) => {
    await (await editor(page)).click();
    await page.keyboard.press("Control+End");
    const unknown = Array.from({ length: 60 }, (_, n) => `unknown_${n}: 1\n`).join("");
    await page.keyboard.insertText(`\n${unknown}`);
    const items = page.locator(".problems li");
    await page.locator(".problems").getByText(/^50 of \d+$/).waitFor();
    assert.equal(await items.count(), 50);
    await page.locator(".problems").getByRole("button", { name: "More" }).click();
    await items.nth(59).waitFor();
  }));

test("the browser finds problems by itself, also where the server cannot be asked", () =>
  site.visit(`${PROJECT}/scenarios/${SCENARIO}`, async (page) => {
    let asked = 0;
    await page.route(/\/check$/, (route) => {
      asked += 1;
      return route.abort();
    });
    await typeAfter(page, "intent: card_dispute", "x");
    const underlined = page.locator("#panel-source .cm-lintRange-error", { hasText: "intent" });
    const problem = page.locator(".problems button", { hasText: "did you mean `card_dispute`" });
    await underlined.waitFor();
    await problem.waitFor();
    await page.getByText("The server could not check it").waitFor();
    assert.ok(asked > 0);
    assert.ok((await underlined.isVisible()) && (await problem.isVisible()), "they stay");
    await typeAfter(page, "card_disputex", "");
    await page.keyboard.press("Backspace");
    await underlined.waitFor({ state: "detached" });
    await problem.waitFor({ state: "detached" });
  }, { expected: [/net::ERR_FAILED/] }));

test("what is typed into the editor is no shortcut", () =>
  site.visit(`${PROJECT}/scenarios/${SCENARIO}`, async (page) => {
    const typed = " # tags g s ? g r y";
    await typeAfter(page, `id: ${SCENARIO}`, typed);
    await (await editor(page)).locator(".cm-line", { hasText: typed }).waitFor();
    assert.ok(page.url().endsWith(`/scenarios/${SCENARIO}`), page.url());
    assert.equal(await page.getByRole("dialog").count(), 0);
    // Elsewhere on the page they are.
    await page.getByRole("heading", { name: SCENARIO, level: 1 }).click();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  }));

test("the server proves what the browser cannot know", () =>
  site.visit(`${PROJECT}/scenarios/${SCENARIO}`, async (page) => {
    await typeAfter(page, "amount: 18.60", "1");
    await page.locator(".problems button", { hasText: "the user is said to know" }).first().waitFor();
  }));

test("a draft is saved with Ctrl-S, compared, restored and promoted", () =>
  site.visit(`${PROJECT}/scenarios/${SCENARIO}`, async (page) => {
    await typeAfter(page, "tags: [dispute, duplicate]", " # as the policy calls it");
    await page.getByLabel("What you changed").fill("says what the tags are");
    await (await editor(page)).press("Control+s");
    await page.getByText("v2 is saved as a draft.").waitFor();
    await page.getByText("v2 is a draft").waitFor();
    await page.getByRole("tab", { name: "Versions" }).click();
    await page.waitForURL("**?tab=versions");
    await page.locator(".unified .added", { hasText: "as the policy calls it" }).waitFor();
    assert.match(await page.locator(".history").innerText(), /says what the tags are/);
    await screenshot(page, "versions");
    await page.getByRole("button", { name: "Restore v1" }).click();
    await page.getByText("v3 is a draft").waitFor();
    await page.getByRole("tab", { name: "Source" }).click();
    assert.doesNotMatch(await (await editor(page)).innerText(), /as the policy calls it/);
    await page.getByRole("button", { name: "Promote", exact: true }).click();
    await page.getByText("v3 is promoted", { exact: true }).waitFor();
  }));

test("the versions that are compared are chosen, and the way back knows what was compared before", () =>
  site.visit(`${PROJECT}/scenarios/${SCENARIO}?tab=versions`, async (page) => {
    const between = page.locator(".compared");
    const [from, to] = [/^From/, /^To/].map((name) => between.getByLabel(name));
    /** What is compared, by the fields and by the address, once this is what differs. */
    const compared = async (differs) => {
      await differs.waitFor();
      const asked = new URL(page.url()).searchParams;
      return [await from.inputValue(), await to.inputValue(), asked.get("from"), asked.get("to")];
    };
    const taken = page.locator(".unified .deleted", { hasText: "as the policy calls it" });
    const added = page.locator(".unified .added", { hasText: "as the policy calls it" });
    const nothing = page.getByText("No differences.");
    assert.deepEqual(await compared(taken), ["2", "3", null, null]);
    await from.selectOption("1");
    assert.deepEqual(await compared(nothing), ["1", "3", "1", null]);
    await to.selectOption("2");
    assert.deepEqual(await compared(added), ["1", "2", "1", "2"]);
    await page.goBack();
    assert.deepEqual(await compared(nothing), ["1", "3", "1", null]);
    await page.goBack();
    assert.deepEqual(await compared(taken), ["2", "3", null, null]);
    await page.goForward();
    assert.deepEqual(await compared(nothing), ["1", "3", "1", null]);
  }));

test("what was written is not lost when the page is left", () =>
  site.visit(`${PROJECT}/scenarios`, async (page) => {
    await page.getByLabel("Search").fill("help_card_abroad");
    await page.locator("table.documents").getByRole("link", { name: "help_card_abroad" }).click();
    await typeAfter(page, "id: help_card_abroad", " # a thought");
    await page.getByText("not saved").first().waitFor();
    await page.goBack();
    await page.getByText("It is kept in this tab").waitFor();
    await page.goForward();
    await page.getByText("Your unsaved changes were restored").waitFor();
    assert.match(await (await editor(page)).innerText(), /a thought/);
    await discard(page, "Discard them");
    await page.getByText("not saved").waitFor({ state: "detached" });
    assert.doesNotMatch(await (await editor(page)).innerText(), /a thought/);
  }));

test("who saves over somebody else's version decides", () =>
  site.visit(`${PROJECT}/scenarios/card_stolen_replaced_free`, async (page) => {
    await typeAfter(page, "id: card_stolen_replaced_free", " # mine");
    const other = await page.context().newPage();
    await other.goto(page.url());
    await typeAfter(other, "id: card_stolen_replaced_free", " # theirs");
    await other.getByRole("button", { name: "Save draft" }).click();
    await other.getByText("v2 is a draft").waitFor();
    await page.bringToFront();
    await page.getByRole("button", { name: "Save draft" }).click();
    const dialog = page.getByRole("dialog", { name: "Somebody else saved a newer version" });
    await dialog.locator(".unified .added", { hasText: "theirs" }).waitFor();
    await accessible(page);
    await screenshot(page, "conflict");
    await dialog.getByRole("button", { name: "Save mine over theirs" }).click();
    await page.getByText("v3 is a draft").waitFor();
    assert.match(await (await editor(page)).innerText(), /# mine/);
  }, { expected: [/status of 409/] }));

test("whoever was slower may go on writing, and loses nothing by a reload; or takes what the other saved", async () => {
  const name = "address_change_after_move";
  const about = `${PROJECT}/scenarios/${name}`;
  const { files, saved } = await site.ask("GET", about);
  const [[path, text]] = Object.entries(files);
  const theirs = text.replace(`id: ${name}`, `id: ${name} # theirs`);
  await site.visit(about, async (page) => {
    const dialog = page.getByRole("dialog", { name: "Somebody else saved a newer version" });
    const mine = (await editor(page)).locator(".cm-line", { hasText: "# mine" });
    const unsaved = page.getByText("not saved", { exact: true }).first();
    await typeAfter(page, `id: ${name}`, " # mine");
    await unsaved.waitFor();
    const order = { files: { [path]: theirs }, message: "says whose it is", base_version: saved.version };
    await site.ask("PUT", about, order);

    await (await editor(page)).press("Control+s");
    const [from, to] = [saved.version, saved.version + 1];
    await dialog.getByText(new RegExp(`^mira saved v${to} at .* made from v${from}, and nothing of it is lost`)).waitFor();
    await dialog.getByText("says whose it is").waitFor();
    await dialog.locator(".unified .added", { hasText: "# theirs" }).waitFor();
    await dialog.getByRole("button", { name: "Continue editing" }).click();
    await dialog.waitFor({ state: "hidden" });
    await mine.waitFor();
    await unsaved.waitFor();
    assert.equal((await site.ask("GET", about)).files[path], theirs, "what the other saved stands");

    await page.reload();
    await page.getByText("Your unsaved changes were restored.").waitFor();
    await mine.waitFor();
    await page.getByRole("button", { name: "Save draft" }).click();
    // What was kept was made from the old version still.
    await dialog.locator(".unified .added", { hasText: "# theirs" }).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await mine.waitFor();
    await page.getByRole("button", { name: "Save draft" }).click();
    await dialog.getByRole("button", { name: "Use theirs, discard mine" }).click();
    await (await editor(page)).locator(".cm-line", { hasText: "# theirs" }).waitFor();
    assert.equal(await mine.count(), 0);
    await page.getByText(`v${to} is a draft`).waitFor();
    await page.getByText("not saved", { exact: true }).waitFor({ state: "detached" });
    assert.equal((await site.ask("GET", about)).saved.version, to, "nothing more was saved");
    await page.reload();
    await editor(page);
    assert.equal(await page.getByText("Your unsaved changes were restored").count(), 0);
  }, { expected: [/status of 409/] });
});

test("what somebody else deleted meanwhile is not written over, and what was written is there when it is restored", async () => {
  const name = "fee_refund_goodwill";
  const about = `${PROJECT}/scenarios/${name}`;
  const { saved } = await site.ask("GET", about);
  await site.visit(about, async (page) => {
    await typeAfter(page, `id: ${name}`, " # mine");
    await page.getByText("not saved", { exact: true }).first().waitFor();
    await site.ask("DELETE", about, { base_version: saved.version });
    await page.getByRole("button", { name: "Save draft" }).click();
    await page.getByRole("alert").getByText("Somebody deleted it meanwhile. What you wrote is kept in this tab").waitFor();
    await screenshot(page, "conflict-deleted");
    assert.match(await (await editor(page)).innerText(), /# mine/);
    await assert.rejects(site.ask("GET", about), /: 404/, "it is not there again by itself");
    await page.reload();
    await page.getByRole("heading", { name: /^There is no / }).waitFor();
    await page.getByRole("button", { name: `Restore v${saved.version}` }).click();
    await page.getByText("Your unsaved changes were restored.").waitFor();
    assert.match(await (await editor(page)).innerText(), /# mine/);
    await discard(page, "Discard them");
    await page.getByText("not saved", { exact: true }).waitFor({ state: "detached" });
  }, { expected: [/status of (404|409)/] });
});

test("what a browser does not keep is not said to be kept, and nobody else in the tab finds what it kept", async () => {
  const link = await site.server.run("users", "create", "otto", "--url", site.url);
  await site.ask("PUT", `${PROJECT}/members/otto`, { role: "author" });
  await site.visit(`${PROJECT}/scenarios/help_card_abroad`, async (page) => {
    await typeAfter(page, "id: help_card_abroad", " # a thought");
    await page.waitForFunction(() => Object.keys(sessionStorage).some((key) => key.startsWith("draft:")));
    const keys = await page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith("draft:")));
    assert.deepEqual(keys, ["draft:mira/default/scenarios/help_card_abroad"], "it is kept for whoever wrote it");
    // Somebody else, in the same tab.
    await page.context().clearCookies();
    await page.goto(link.trim());
    await choosePassword(page, { password: "a quiet green lamp" });
    await page.getByText("Signed in as otto").waitFor();
    await page.goto(`${PROJECT}/scenarios/help_card_abroad`);
    assert.doesNotMatch(await (await editor(page)).innerText(), /a thought/);
    assert.equal(await page.getByText("Your unsaved changes were restored.").count(), 0);
    assert.equal(await page.evaluate((key) => sessionStorage.getItem(key) !== null, keys[0]), true);
  }, { expected: [/status of 401/] });
  await site.visit(`${PROJECT}/scenarios?search=help_card_abroad`, async (page) => {
    await page.evaluate(() => {
      const set = Storage.prototype.setItem;
      Storage.prototype.setItem = function (key, value) {
        if (key.startsWith("draft:")) throw new DOMException("full", "QuotaExceededError");
        return set.call(this, key, value);
      };
    });
    await page.locator("table.documents").getByRole("link", { name: "help_card_abroad" }).click();
    await typeAfter(page, "id: help_card_abroad", " # a thought");
    await page.getByText("This browser does not keep your changes").waitFor();
    await page.goBack();
    await page.getByRole("alert").getByText("the browser did not keep it: it is lost").waitFor();
    assert.equal(await page.getByText("It is kept in this tab").count(), 0);
  });
});

test("whoever promotes and has changed nothing is asked, and writes nothing over what somebody else saved", async () => {
  const name = "bereavement_handover";
  const about = `${PROJECT}/scenarios/${name}`;
  const { files, saved } = await site.ask("GET", about);
  const [[path, text]] = Object.entries(files);
  const save = (whose, base_version) =>
    site.ask("PUT", about, { files: { [path]: text.replace(`id: ${name}`, `id: ${name} # ${whose}`) }, base_version });
  await save("mine", saved.version);
  const [mine, theirs] = [saved.version + 1, saved.version + 2];
  await site.visit(about, async (page) => {
    await page.getByText(`v${mine} is a draft`).waitFor();
    await save("theirs", mine);
    await page.getByRole("button", { name: "Promote", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Somebody else saved a newer version" });
    await dialog.getByText(`you have changed nothing since v${mine}. Nothing was promoted.`).waitFor();
    await dialog.locator(".unified .added", { hasText: "# theirs" }).waitFor();
    assert.equal(await dialog.getByRole("button", { name: /Save mine/ }).count(), 0);
    await screenshot(page, "conflict-promote");
    await dialog.getByRole("button", { name: `Promote v${theirs}` }).click();
    await page.getByText(`v${theirs} is promoted`, { exact: true }).waitFor();
    await (await editor(page)).locator(".cm-line", { hasText: "# theirs" }).waitFor();
    const now = await site.ask("GET", about);
    assert.deepEqual([now.saved.version, now.saved.promoted], [theirs, true]);
    assert.match(now.files[path], /# theirs/);
  }, { expected: [/status of 409/] });
});

test("what somebody else saves right after is not written over unasked", async () => {
  const name = "bereavement_handover";
  const about = `${PROJECT}/scenarios/${name}`;
  const { files, saved } = await site.ask("GET", about);
  const [[path, text]] = Object.entries(files);
  const [mine, theirs] = [saved.version + 1, saved.version + 2];
  const others = text.replace("# theirs", "# right after");
  await site.visit(about, async (page) => {
    let late = true;
    await page.route(`**/api/v1${about}`, async (route) => {
      if (route.request().method() !== "PUT" || !late) return route.continue();
      late = false;
      const response = await route.fetch();
      await site.ask("PUT", about, { files: { [path]: others }, base_version: mine });
      return route.fulfill({ response });
    });
    await typeAfter(page, `id: ${name}`, " and mine");
    await page.getByRole("button", { name: "Save draft" }).click();
    await page.getByText(`v${mine} is saved as a draft. mira saved v${theirs} right after`).waitFor();
    await page.getByText(`v${mine} is a draft`).waitFor();
    await page.getByText("not saved", { exact: true }).waitFor({ state: "detached" });
    await typeAfter(page, `id: ${name}`, ", still");
    await page.getByText("not saved", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: "Save draft" }).click();
    const dialog = page.getByRole("dialog", { name: "Somebody else saved a newer version" });
    await dialog.locator(".unified .added", { hasText: "# right after" }).waitFor();
    await dialog.getByRole("button", { name: "Continue editing" }).click();
    const now = await site.ask("GET", about);
    assert.deepEqual([now.saved.version, now.files[path]], [theirs, others]);
  }, { expected: [/status of 409/] });
});

test("what is not saved can be discarded, after a question, and keeps older versions from being restored", () =>
  site.visit(`${PROJECT}/scenarios/bereavement_handover`, async (page) => {
    const unsaved = page.getByText("not saved", { exact: true });
    await typeAfter(page, "id: bereavement_handover", " # a thought");
    await unsaved.first().waitFor();
    await page.getByRole("tab", { name: "Versions" }).click();
    const restore = page.getByRole("button", { name: "Restore v1" });
    await page.getByText("Save or discard your changes before you restore an older version.").waitFor();
    assert.equal(await restore.getAttribute("aria-disabled"), "true");
    await page.getByRole("button", { name: "Discard changes" }).click();
    const question = page.getByRole("dialog", { name: "Discard your changes" });
    await accessible(page);
    await question.getByRole("button", { name: "Cancel" }).click();
    assert.ok((await unsaved.count()) > 0);
    await discard(page, "Discard changes");
    await unsaved.waitFor({ state: "detached" });
    assert.equal(await restore.getAttribute("aria-disabled"), "false");
    await page.getByRole("tab", { name: "Source" }).click();
    assert.doesNotMatch(await (await editor(page)).innerText(), /a thought/);
    assert.equal(await page.getByRole("button", { name: "Discard changes" }).count(), 0);
  }));

test("the world of a scenario is a tree that leads to the source", () =>
  site.visit(`${PROJECT}/scenarios/${SCENARIO}`, async (page) => {
    await editor(page);
    const tree = page.getByRole("tree", { name: "The initial world" });
    const added = tree.getByRole("treeitem", { name: "txn_4012" });
    await added.getByText("added").waitFor();
    assert.equal(await added.getAttribute("aria-level"), "2", "screen readers say how deep it stands");
    await added.click();
    await screenshot(page, "scenario-world");
    await tree.getByRole("treeitem", { name: "description" }).first().click();
    assert.equal(await page.evaluate(() => Boolean(document.activeElement?.shadowRoot)), true, "the editor has the focus");
    // Lines that are not in sight are not in the page.
    await page.keyboard.press("Control+Home");
    await typeAfter(page, "intent: card_dispute", ": no YAML");
    await page.getByText("The source cannot be read. This is the previous world.").waitFor();
    assert.ok(await added.isVisible(), "the world does not become empty");
  }));

test("scenarios that are nearly the same are found", () =>
  site.visit(`${PROJECT}/scenarios/${SCENARIO}?side=similar`, async (page) => {
    const rows = page.locator(".beside-editor table tbody tr");
    await rows.first().waitFor();
    assert.equal(await rows.count(), 8);
    await page.waitForFunction(() => !document.querySelector(".beside-editor tbody")?.textContent?.includes("…"));
    await screenshot(page, "scenario-similar");
  }));

test("a new scenario begins as a copy, and is deleted and restored", () =>
  site.visit(`${PROJECT}/scenarios`, async (page) => {
    await page.getByRole("button", { name: "New scenario" }).click();
    const dialog = page.getByRole("dialog", { name: "New scenario" });
    await dialog.getByLabel("Name").fill("Not A Name");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText("expected lower-case letters").waitFor();
    await accessible(page);
    await dialog.getByLabel("Name").fill("copied_case");
    await dialog.getByLabel("Start from").selectOption("A copy of another scenario");
    await dialog.getByRole("combobox", { name: /^Copy of/ }).fill("no_such_case");
    await dialog.getByRole("combobox", { name: /^Copy of/ }).press("Tab");
    await dialog.getByText("There is no no_such_case.").waitFor();
    await dialog.getByRole("combobox", { name: /^Copy of/ }).fill(SCENARIO);
    await dialog.getByText("There is no no_such_case.").waitFor({ state: "detached" });
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.waitForURL("**/scenarios/copied_case");
    assert.match(await (await editor(page)).innerText(), /^id: copied_case$/m);
    await page.getByRole("button", { name: "Delete" }).first().click();
    const question = page.getByRole("dialog", { name: "Delete a scenario" });
    await accessible(page);
    await question.getByText("No document refers to it, so it can be deleted.").waitFor();
    await screenshot(page, "delete");
    await question.getByRole("button", { name: "Delete" }).click();
    await page.waitForURL("**/scenarios");
    await page.goto(`${PROJECT}/scenarios/copied_case`);
    await page.getByRole("button", { name: "Restore v1" }).click();
    await editor(page);
  }, { expected: [/status of 404/] }));

/** The row of another scenario among those that are like the one that is written. */
const like = (page, name) =>
  page.locator(".beside-editor table tbody tr", { has: page.getByRole("rowheader", { name, exact: false }) });

/** Puts another text into the first line of a field below, however often the editor wraps it. */
async function rewrite(page, field, text) {
  const line = (await editor(page)).locator(".cm-line", { hasText: new RegExp(`^${field}:`) });
  // Of a long text only what is near is in the page.
  for (let pages = 0; pages < 20 && (await line.count()) === 0; pages += 1) {
    await page.keyboard.press("PageDown");
  }
  await line.click({ clickCount: 3 });
  await page.keyboard.insertText(`${field}: ${text}\n`);
}

test("a scenario that is nearly another one says which, until it is described otherwise", () =>
  site.visit(`${PROJECT}/scenarios/copied_case?side=similar`, async (page) => {
    const original = like(page, SCENARIO);
    await original.getByText("nearly the same").waitFor();
    // Both are compared as wholes once the nearest are read.
    await page.waitForFunction(() => !document.querySelector(".beside-editor tbody")?.textContent?.includes("…"));
    assert.deepEqual(await original.getByRole("cell").allInnerTexts(), ["100 %", "100 %"]);
    const first = page.locator(".beside-editor table tbody tr").first();
    assert.match(await first.innerText(), new RegExp(SCENARIO), "the nearest stands first");
    const [, other] = (await page.locator(".beside-editor table tbody tr").allInnerTexts()).map((text) => text.trim());
    assert.doesNotMatch(other, /nearly the same/);
    await screenshot(page, "scenario-nearly-the-same");
    await original.getByRole("link").click();
    await page.waitForURL(`**/scenarios/${SCENARIO}**`);
    await page.goBack();
    await original.getByText("nearly the same").waitFor();
    await rewrite(page, "description", "Somebody wants to know when the branch at the harbour closes on a holiday.");
    await original.getByRole("cell", { name: "100 %" }).nth(1).waitFor({ state: "detached" });
    await original.getByText("nearly the same").waitFor();
    await rewrite(page, "user_goal", "Ask when the branch at the harbour closes on a holiday, and thank them.");
    await original.getByText("nearly the same").waitFor({ state: "detached" });
  }));

test("the whole project is validated, and what is found leads to its document", async () => {
  const { files } = await site.ask("GET", `${PROJECT}/scenarios/${SCENARIO}`);
  const text = Object.values(files)[0].replace(`id: ${SCENARIO}`, "id: twin_case");
  await site.ask("PUT", `${PROJECT}/scenarios/twin_case`, { text, promote: true });
  await site.visit(`${PROJECT}/scenarios`, async (page) => {
    await page.getByRole("link", { name: "Validation" }).click();
    await page.getByText("The project was never validated.").waitFor();
    const validate = page.getByRole("button", { name: "Validate the project" });
    await validate.click();
    await page.getByRole("progressbar", { name: /^Validating/ }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await validate.waitFor();
    assert.equal(await page.getByRole("progressbar").count(), 0);
    await page.reload();
    await page.getByText("The project was never validated.").waitFor();

    await validate.click();
    await page.getByText(/^Validating, prove: \d+ of 7\d$/).waitFor();
    await screenshot(page, "validating");
    const found = page.getByRole("region", { name: "Findings of the last validation" });
    await found.getByText("sound", { exact: true }).waitFor();
    await screenshot(page, "validation");
    const twin = found.getByRole("listitem").filter({ hasText: "twin_case" });
    await twin.filter({ hasText: `is 1.00 like that of \`${SCENARIO}\`` }).first().getByRole("link").click();
    await page.waitForURL("**/scenarios/twin_case");
  });
  await site.ask("DELETE", `${PROJECT}/scenarios/twin_case`, { base_version: 1 });
});

test("what others need is not deleted", () =>
  site.visit(`${PROJECT}/judges`, async (page) => {
    await page.getByRole("button", { name: "Delete default" }).click();
    const question = page.getByRole("dialog", { name: "Delete a judge" });
    await question.getByRole("link", { name: "retail_bank" }).waitFor();
    assert.equal(await question.getByRole("button", { name: "Delete" }).count(), 0);
  }));

test("a playbook has its files beside the editor", () =>
  site.visit(`${PROJECT}/playbooks/retail_bank?tab=source`, async (page) => {
    await editor(page);
    const files = page.getByRole("navigation", { name: "Files" });
    await files.getByRole("button", { name: "tools.star" }).click();
    await page.waitForURL("**file=*tools.star*");
    await page.locator("#panel-source .cm-line", { hasText: "def " }).first().waitFor();
    await typeAfter(page, "def ", "(");
    await page.locator(".problems button", { hasText: "tools.star" }).first().waitFor();
    await screenshot(page, "playbook-source");
    await page.getByRole("button", { name: "Delete" }).first().waitFor();
  }));

test("a new judge begins as an example", () =>
  site.visit(`${PROJECT}/judges`, async (page) => {
    await page.locator("table.documents tbody tr").first().waitFor();
    await page.keyboard.press("n");
    const dialog = page.getByRole("dialog", { name: "New judge" });
    await dialog.getByLabel("Name").fill("strict");
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.waitForURL("**/judges/strict");
    await editor(page);
    await page.getByText("No problems found.").waitFor();
  }));

test("documents fit a narrow, dark screen", async () => {
  await site.visit(`${PROJECT}/scenarios`, async (page) => {
    await page.locator("table.documents tbody tr").first().waitFor();
    await screenshot(page, "scenarios-narrow");
    await fits(page);
  }, NARROW_DARK);
  await site.visit(`${PROJECT}/scenarios/${SCENARIO}`, async (page) => {
    await editor(page);
    await screenshot(page, "scenario-narrow");
    await fits(page);
  }, NARROW_DARK);
});
