// Taking data away: a profile, its first record, the file, and the same from a terminal.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";

import { NARROW_DARK, WIDE, fits, screenshot } from "./support/browser.mjs";
import { PROJECT, story } from "./support/story.mjs";
import { terminal } from "./support/terminal.mjs";

const PLANNED = 48;

const site = story({ n: PLANNED, seed: 3, ...WIDE });

/** Whether a number of bytes is told so, to one digit. */
function tells(text, bytes) {
  const [, number, unit] = /^(\d+(?:\.\d)?) (B|KiB|MiB)$/.exec(text);
  const size = 1024 ** ["B", "KiB", "MiB"].indexOf(unit);
  return Math.abs(Number(number) * size - bytes) <= (unit === "B" ? 0 : 0.051 * size);
}

// The tests below are one story: each begins where the one before ended.

test("without an export the list says what one is, and leads to the first", () =>
  site.visit(`${PROJECT}/exports`, async (page) => {
    await page.getByRole("heading", { name: "No exports yet." }).waitFor();
    await page.getByRole("link", { name: "New export" }).click();
    await page.getByText("Choose a corpus or a run to see it.").waitFor();
    assert.ok(await page.getByRole("button", { name: "Build the export" }).isDisabled());
  }));

test("a profile shows its first record, its commands, and only what it can honour", () =>
  site.visit(`${PROJECT}/exports/new`, async (page) => {
    await page.getByLabel("Corpus or run").selectOption({ index: 1 });
    await page.waitForURL(/run=/);
    await page.locator("pre.record").waitFor();
    await page.getByLabel("The dataset card").getByText("split: train").waitFor();
    await screenshot(page, "export-new");

    await page.getByRole("radio", { name: /^TRL Supervised/ }).check();
    await page.waitForURL(/profile=trl/);
    await page.getByText(/-trl\.jsonl/).first().waitFor();
    const shown = JSON.parse(await page.locator("pre.record").innerText());
    assert.ok(Array.isArray(shown.messages) && typeof shown.tools === "string");
    assert.equal(await page.getByLabel("The dataset card").count(), 0, "only a bundle has one");
    await page.getByLabel("Descriptions of tools").selectOption("array");
    await page.waitForFunction(() => {
      try {
        return Array.isArray(JSON.parse(document.querySelector("pre.record").textContent).tools);
      } catch {
        return false;
      }
    });
    assert.match(await page.getByLabel("Groundstate's command").innerText(), /--profile trl[\s\\]+--tools array/);
    assert.match(await page.getByLabel("The same with curl").innerText(), /"profile":"trl".*"toggles":\{"tools":"array"\}/);

    await page.getByRole("radio", { name: /^OpenAI Supervised/ }).check();
    await page.getByLabel("Reasoning").locator("option").nth(1).waitFor({ state: "detached" });
    assert.equal(await page.getByLabel("Reasoning").locator("option").count(), 1);
    await page.getByRole("radio", { name: /^TRL preference pairs/ }).check();
    await page.getByLabel("Minimum difference").waitFor();
  }));

test("a first record that takes its time can be given up, and looked at again", () =>
  site.visit(`${PROJECT}/exports/new`, async (page) => {
    const broken = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/exports/preview"));
    await page.route("**/exports/preview", () => {});
    await page.getByLabel("Corpus or run").selectOption({ index: 1 });
    await page.getByRole("button", { name: "Cancel" }).click();
    await broken;
    await page.getByText("The preview is not complete.").waitFor();
    await page.unroute("**/exports/preview");
    await page.getByRole("button", { name: "Refresh the preview" }).click();
    await page.locator("pre.record").waitFor();
    await page.getByText("The preview is not complete.").waitFor({ state: "detached" });

    // What was found before is not shown for another profile, or for nothing.
    const record = page.locator("pre.record");
    const cli = page.getByLabel("Groundstate's command");
    await page.route("**/exports/preview", () => {});
    await page.getByRole("radio", { name: /^Canonical/ }).check();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("The preview is not complete.").waitFor();
    await record.waitFor({ state: "detached" });
    assert.match(await cli.innerText(), /--profile canonical[\s\\]+--out rows\.jsonl/);
    await page.unroute("**/exports/preview");
    await page.getByRole("button", { name: "Refresh the preview" }).click();
    await record.waitFor();
    await page.getByLabel("Corpus or run").selectOption("");
    await page.getByText("Choose a corpus or a run to see it.").waitFor();
    await record.waitFor({ state: "detached" });
  }));

test("a first record that cannot be read says so, and leaves nothing of another one", () =>
  site.visit(
    `${PROJECT}/exports/new`,
    async (page) => {
      await page.getByLabel("Corpus or run").selectOption({ index: 1 });
      await page.locator("pre.record").waitFor();
      await page.route("**/exports/preview", (route) => route.abort());
      await page.getByRole("radio", { name: /^Canonical/ }).check();
      await page.locator(".preview .refusal").waitFor();
      await page.locator("pre.record").waitFor({ state: "detached" });
      assert.match(await page.getByLabel("Groundstate's command").innerText(), /--out rows\.jsonl/);
    },
    { expected: [/net::ERR_FAILED/] },
  ));

test("all of the form stands in the address: a link, a reload and the way back know it", () =>
  site.visit(`${PROJECT}/exports/new`, async (page) => {
    const score = page.getByLabel("Compare by");
    const branches = page.getByLabel("Include sub-agents' rows");
    const failures = page.getByLabel("Include conversations that were not accepted");
    const cli = page.getByLabel("Groundstate's command");
    await page.getByLabel("Corpus or run").selectOption({ index: 1 });
    await page.waitForURL(/run=/);
    await page.getByRole("radio", { name: /^TRL preference pairs/ }).check();
    await page.waitForURL(/profile=trl_dpo/);
    // Pairs need them anyway.
    assert.equal(await failures.count(), 0);
    await page.getByLabel("Descriptions of tools").selectOption("array");
    await page.waitForURL(/tools=array/);
    await score.selectOption("weighted_mean");
    await page.waitForURL(/score=weighted_mean/);
    await page.getByLabel("Minimum difference").fill("2.5");
    await page.getByLabel("Minimum difference").press("Tab");
    await page.waitForURL(/margin=2\.5/);
    await branches.check();
    await page.waitForURL(/branches=true/);
    const says = /--branches[\s\\]+--profile trl_dpo[\s\\]+--tools array[\s\\]+--score weighted_mean --margin 2\.5/;
    assert.match(await cli.innerText(), says);

    await page.reload();
    await cli.getByText("--margin 2.5", { exact: false }).waitFor();
    assert.match(await cli.innerText(), says);
    assert.equal(await page.getByLabel("Minimum difference").inputValue(), "2.5");
    assert.equal(await page.getByLabel("Descriptions of tools").inputValue(), "array");
    assert.ok(await branches.isChecked());

    await page.goBack();
    await page.waitForURL((url) => !url.searchParams.has("branches"));
    await page.waitForFunction((box) => !box.checked, await branches.elementHandle());
    await page.goBack();
    await page.waitForURL((url) => !url.searchParams.has("margin"));
    await page.waitForFunction((field) => field.value === "1", await page.getByLabel("Minimum difference").elementHandle());
    assert.equal(await score.inputValue(), "weighted_mean");
    await page.goBack();
    await page.waitForURL((url) => !url.searchParams.has("score"));
    await page.waitForFunction((field) => field.value === "overall", await score.elementHandle());
  }));

test("an export is built, downloaded as it was hashed, and says what is in it", () =>
  site.visit(`${PROJECT}/exports/new`, async (page) => {
    await page.getByLabel("Corpus or run").selectOption({ index: 1 });
    await page.getByRole("radio", { name: /^Canonical/ }).check();
    await page.getByText(/-canonical\.jsonl/).first().waitFor();
    const first = JSON.parse(await page.locator("pre.record").textContent());
    await page.getByRole("button", { name: "Build the export" }).click();
    await page.waitForURL(/exports\/[0-9a-f-]{36}$/);
    await page.getByText("ready", { exact: true }).waitFor();
    await page.getByText(/No model played these roles/).first().waitFor();
    await screenshot(page, "export");

    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download" }).click();
    const file = await readFile(await (await download).path());
    const hash = createHash("sha256").update(file).digest("hex");
    assert.equal(await page.locator(".hash code").innerText(), hash);
    const lines = file.toString().split("\n");
    assert.ok(lines.length > 10);
    assert.deepEqual(JSON.parse(lines[0]), first);
    const size = await page.locator("dl.strip > div", { hasText: "Size" }).locator("dd").innerText();
    assert.ok(tells(size, file.length), `${size} are ${file.length} bytes`);
    const { bytes } = await site.ask("GET", `/exports/${page.url().split("/").at(-1)}`);
    assert.equal(bytes, file.length);
  }));

/** An export of the story's run, from the list to its end. */
async function buildForTrl(page) {
  await page.getByRole("navigation", { name: "Project" }).getByRole("link", { name: "Exports" }).click();
  await page.getByRole("link", { name: "New export" }).click();
  await page.getByLabel("Corpus or run").selectOption({ index: 1 });
  await page.getByRole("radio", { name: /^TRL Supervised/ }).check();
  await page.waitForURL(/profile=trl/);
  await page.getByRole("button", { name: "Build the export" }).click();
  await page.waitForURL(/exports\/[0-9a-f-]{36}$/);
  await page.locator("h1 .badge").getByText(/^(ready|failed)$/).waitFor();
  return page.url().split("/").at(-1);
}

test("an export that cannot be written says where, leaves nothing, and is made once it can be", () =>
  site.visit(`${PROJECT}/exports`, async (page) => {
    const folder = path.join(site.server.files, "exports");
    // As if the disk that holds the exports were not there.
    await rename(folder, `${folder}.aside`);
    await writeFile(folder, "");
    const failed = await buildForTrl(page);
    await page.locator("h1 .badge").getByText("failed").waitFor();
    await page.locator(".refusal").getByText(`cannot write to ${folder}`).waitFor();
    assert.equal(await page.getByRole("link", { name: "Download" }).count(), 0);
    await assert.rejects(site.ask("GET", `/exports/${failed}/file`), /: 409 .*the export is failed/);
    await screenshot(page, "export-failed");
    await rm(folder);
    await rename(`${folder}.aside`, folder);

    await page.getByRole("button", { name: "Make again" }).click();
    await page.getByText("The export is made again, with the same settings.").waitFor();
    await page.waitForURL((url) => /exports\/[0-9a-f-]{36}$/.test(url) && !url.href.endsWith(failed));
    await page.locator("h1 .badge").getByText("ready").waitFor();
    const made = page.url().split("/").at(-1);
    const spec = async (id) => (await site.ask("GET", `/exports/${id}`)).spec;
    assert.deepEqual(await spec(made), await spec(failed));
    for (const id of [failed, made]) await site.ask("DELETE", `/exports/${id}`);
  }));

test("on a narrow, dark screen everything fits", () =>
  site.visit(
    `${PROJECT}/exports`,
    async (page) => {
      await page.getByRole("row").getByRole("link", { name: /canonical\.jsonl/ }).click();
      await page.getByText("ready", { exact: true }).waitFor();
      await fits(page);
      await screenshot(page, "export-narrow");
      await page.goto(`${PROJECT}/exports/new`);
      await page.getByLabel("Corpus or run").selectOption({ index: 1 });
      await page.locator("pre.record").waitFor();
      await fits(page);
      await screenshot(page, "export-new-narrow");
    },
    NARROW_DARK,
  ));

test("an export is deleted after a question", () =>
  site.visit(`${PROJECT}/exports`, async (page) => {
    await page.getByRole("row").getByRole("link", { name: /canonical\.jsonl/ }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog", { name: "Delete the export?" }).getByRole("button", { name: "Delete the export" }).click();
    await page.getByText("The export was deleted.").waitFor();
    await page.getByRole("heading", { name: "No exports yet." }).waitFor();
  }));

test("what the page says for a terminal is pasted into one, and gives the same file", async () => {
  const { secret } = await site.ask("POST", "/tokens", { name: "terminal", scopes: ["run"] });
  const shell = await terminal(site, { GROUNDSTATE_TOKEN: secret });
  const pasted = async (page, label) => shell.paste(await page.getByLabel(label, { exact: true }).locator("code").textContent());
  try {
    for (const profile of ["canonical", "huggingface", "json_strings"]) {
      const [run] = (await site.ask("GET", `${PROJECT}/runs`)).items;
      await site.visit(`${PROJECT}/exports/new?run=${run.id}&profile=${profile}&reasoning=drop`, async (page) => {
        await page.getByLabel("The same with curl", { exact: true }).waitFor();
        const { id } = JSON.parse(await pasted(page, "The same with curl"));
        const made = await site.until(`/exports/${id}`, ({ state }) => state !== "building");
        assert.equal(made.state, "ready", `${profile}: ${made.reason}`);
        await page.goto(`${PROJECT}/exports/${id}`);
        await page.getByText("ready", { exact: true }).waitFor();
        await pasted(page, "Download with curl");
        const file = await shell.read(made.file_name);
        assert.equal(createHash("sha256").update(file).digest("hex"), made.hash, profile);
        // Half of it is there already.
        await shell.write(made.file_name, file.subarray(0, file.length / 2));
        await pasted(page, "Download with curl");
        assert.deepEqual(await shell.read(made.file_name), file, profile);
        await shell.remove(made.file_name);
        await pasted(page, "Groundstate's command");
        if (profile !== "huggingface") assert.deepEqual(await shell.read(made.file_name), file, profile);
      });
    }
  } finally {
    await shell.close();
  }
});

/** All that could be chosen of each toggle, as the API calls it, and the label under which the form offers it. */
const TOGGLES = {
  reasoning: ["Reasoning", ["keep", "inline", "drop"]],
  arguments: ["Arguments of calls", ["string", "object"]],
  tools: ["Descriptions of tools", ["array", "json"]],
  data: ["Data files", ["jsonl", "parquet"]],
};

/** An order without what is as it is by default. */
function lean({ pairs, ...order }) {
  const said = JSON.parse(JSON.stringify(order, (_, value) => (value === false || value === null ? undefined : value)));
  if (isDeepStrictEqual(said.toggles, {})) delete said.toggles;
  return said;
}

/** Waits until the page shows this record. */
async function showsRecord(page, record) {
  await page.waitForFunction((wanted) => {
    const sorted = (_, value) =>
      value && typeof value === "object" && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort()) : value;
    try {
      const shown = JSON.parse(document.querySelector("pre.record").textContent);
      return JSON.stringify(shown, sorted) === JSON.stringify(wanted, sorted);
    } catch {
      return false;
    }
  }, record);
}

/** Does something by which the form asks for `spec`. Once the page shows what the API says of it, gives that and the command. */
async function previews(page, spec, act) {
  const asks = (response) =>
    response.url().endsWith("/exports/preview") && isDeepStrictEqual(lean(response.request().postDataJSON()), spec);
  const [answer] = await Promise.all([page.waitForResponse(asks), act()]);
  const told = await answer.json();
  const strip = page.locator(".preview dl.strip > div");
  if (told.record === undefined) {
    const { file_name, looked_at, total } = told;
    const none = looked_at < total ? `the first ${looked_at} conversations give no` : `none of the ${total} conversations gives a`;
    await page.locator(".preview").getByText(`${file_name}: ${none} record in this format.`).waitFor();
  } else {
    await showsRecord(page, told.record);
    await strip.filter({ hasText: "Conversations to read" }).getByText(`${told.total}`, { exact: true }).waitFor();
    await strip.filter({ hasText: "File" }).getByText(told.file_name, { exact: true }).waitFor();
  }
  const command = async (label) => page.getByLabel(label, { exact: true }).locator("code").textContent();
  assert.deepEqual(lean(JSON.parse(/--json '(.*)'$/s.exec(await command("The same with curl"))[1])), spec);
  const cli = (await command("Groundstate's command")).replace(/[\s\\]+/g, " ");
  assert.ok(cli.includes(` --profile ${spec.profile} `) && cli.endsWith(` --out ${told.file_name}`), cli);
  return { ...told, cli };
}

test("each toggle changes the first record and both commands, and a profile offers what it can honour", async () => {
  const [{ id }] = (await site.ask("GET", `${PROJECT}/runs`)).items;
  const source = { run: { id } };
  await site.visit(`${PROJECT}/exports`, async (page) => {
    const changed = [];
    for (const profile of ["huggingface", "openai"]) {
      const address = `${PROJECT}/exports/new?run=${id}&profile=${profile}`;
      const toggles = {};
      let before = await previews(page, { source, profile }, () => page.goto(address));
      for (const [name, [label, all]] of Object.entries(TOGGLES)) {
        const select = page.getByLabel(label);
        const offered = await select.locator("option").evaluateAll((options) => options.map(({ value }) => value));
        for (const value of all.filter((value) => !offered.includes(value))) {
          const refused = { source, profile, toggles: { [name]: value } };
          await assert.rejects(site.ask("POST", `${PROJECT}/exports/preview`, refused), /: 422/, `${profile} ${name} ${value}`);
        }
        const now = await select.inputValue();
        for (const value of offered.filter((value) => value !== now)) {
          toggles[name] = value;
          const told = await previews(page, { source, profile, toggles: { ...toggles } }, () => select.selectOption(value));
          assert.equal(new URL(page.url()).searchParams.get(name), value);
          assert.ok(told.cli.includes(` --${name} ${value} `), told.cli);
          assert.ok(!before.cli.includes(` --${name} ${value} `), before.cli);
          const export_ = ({ record, card, file_name }) => ({ record, card, file_name });
          assert.notDeepEqual(export_(told), export_(before), `${name} ${value} of ${profile} is another export`);
          if (told.card) {
            const card = await page.locator(".card-text pre").textContent();
            assert.equal(card, told.card.slice(0, card.length));
          }
          before = told;
          changed.push(name);
        }
      }
    }
    assert.deepEqual([...new Set(changed)].sort(), Object.keys(TOGGLES).sort());
  });
});

test("each profile that the API knows can be chosen, and shows the first record and the commands of the API", async () => {
  const [{ id }] = (await site.ask("GET", `${PROJECT}/runs`)).items;
  const profiles = (await site.ask("GET", "/openapi.json")).components.schemas.Profile.enum;
  const source = { run: { id } };
  await site.visit(`${PROJECT}/exports`, async (page) => {
    const last = profiles.at(-1);
    await previews(page, { source, profile: last }, () => page.goto(`${PROJECT}/exports/new?run=${id}&profile=${last}`));
    const offered = page.getByRole("group", { name: "Trainer" }).getByRole("radio");
    const values = await offered.evaluateAll((radios) => radios.map(({ value }) => value));
    assert.deepEqual(values.sort(), [...profiles].sort());
    let records = 0;
    for (const profile of profiles) {
      const radio = page.locator(`input[name="profile"][value="${profile}"]`);
      const told = await previews(page, { source, profile }, () => radio.check());
      assert.ok(await radio.isChecked());
      const { record, total, file_name } = await site.ask("POST", `${PROJECT}/exports/preview`, { source, profile });
      assert.deepEqual([told.record, told.total, told.file_name], [record, total, file_name]);
      records += told.record === undefined ? 0 : 1;
    }
    assert.ok(records > profiles.length / 2, `${records} of ${profiles.length} have a first record`);
  });
});

test("what is also exported of a run, and which side of a corpus, is what both commands ask for", async () => {
  const [{ id }] = (await site.ask("GET", `${PROJECT}/runs`)).items;
  const { items } = await site.ask("GET", `/runs/${id}/conversations`);
  for (const { id } of items.slice(0, 3)) await site.ask("PUT", `/conversations/${id}/ratings`, { scores: { overall: 4 } });
  await site.ask("POST", `${PROJECT}/calibrations`, { run: id });
  const corpus = (await site.ask("POST", `${PROJECT}/corpora`, { name: "sides", spec: { split: { golden: 0.3 } } })).id;
  const { report } = await site.until(`/corpora/${corpus}`, ({ summary }) => summary.state === "ready");
  const profile = "canonical";
  await site.visit(`${PROJECT}/exports`, async (page) => {
    const run = { id };
    const address = `${PROJECT}/exports/new?run=${id}&profile=${profile}`;
    let before = await previews(page, { source: { run: { ...run } }, profile }, () => page.goto(address));
    for (const [name, label] of [
      ["all", "Include conversations that were not accepted"],
      ["corrected", "Include scores corrected by people's ratings"],
      ["branches", "Include sub-agents' rows"],
    ]) {
      run[name] = true;
      const told = await previews(page, { source: { run: { ...run } }, profile }, () => page.getByLabel(label).check());
      assert.equal(new URL(page.url()).searchParams.get(name), "true");
      assert.ok(told.cli.includes(` --${name} `) && !before.cli.includes(` --${name} `), told.cli);
      if (name === "corrected") assert.notDeepEqual(told.record, before.record);
      before = told;
    }
    // Of what is said of a run nothing is left once it is a corpus.
    const choose = () => page.getByLabel("Corpus or run").selectOption(`corpus ${corpus}`);
    const whole = await previews(page, { source: { corpus: { id: corpus } }, profile }, choose);
    assert.doesNotMatch(whole.cli, / --(run|all|corrected|branches|split) /);
    const side = page.getByRole("combobox", { name: /^Part/ });
    const totals = [];
    for (const split of ["train", "golden"]) {
      const told = await previews(page, { source: { corpus: { id: corpus, split } }, profile }, () => side.selectOption(split));
      assert.ok(told.cli.includes(` --split ${split} `), told.cli);
      totals.push(told.total);
    }
    assert.deepEqual(totals, [report.split.train.conversations, report.split.golden.conversations]);
  });
});
