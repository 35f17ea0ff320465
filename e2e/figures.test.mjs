// The figures of pages are those of the API: of a selection and its corpus, of runs beside each other, of an export.

import assert from "node:assert/strict";
import { test } from "node:test";

import { WIDE } from "./support/browser.mjs";
import { called, count, figure, money, percent, signed, words } from "./support/format.mjs";
import { PROJECT, story } from "./support/story.mjs";
import { figuresOf, pairs } from "./support/tables.mjs";

const site = story({
  n: 60,
  seed: 3,
  ...WIDE,
  prepare: ({ server }) =>
    server.run("generate", "--playbook", "retail_bank", "--n", "40", "--seed", "9", "--out", "/tmp/gs-figures-e2e.jsonl"),
});

const STEPS = {
  pii: "Without personal data",
  secrets: "Without secrets",
  exact_duplicates: "Duplicates removed",
  near_duplicates: "No near-duplicates",
  balance: "Balanced",
  limit: "Within the limit",
};

/** The report of a selection stands in a part of a page. */
async function reports(within, report) {
  const { filter, funnel, split, leakage } = report;
  const steps = [
    ["Ended", count(report.looked_at)],
    ["Found by the filter", count(report.found)],
    ...funnel.map(({ step, left }) => [STEPS[step], count(left)]),
  ];
  assert.deepEqual(await figuresOf(within, "Funnel"), steps);
  assert.equal(filter.reduce((left, { dropped }) => left - dropped, report.looked_at), report.found);
  const sorted = filter.filter(({ dropped }) => dropped > 0).sort((a, b) => b.dropped - a.dropped);
  const why = [
    ...sorted.map(({ condition, dropped }) => [condition.replace(".", ": ").replaceAll("_", " "), count(dropped)]),
    ...funnel.flatMap(({ reasons = [] }) => reasons.map(({ reason, conversations }) => [reason, count(conversations)])),
  ];
  const told = await within.locator("details.reasons li").evaluateAll((all) =>
    all.map((reason) => [...reason.children].map((part) => part.textContent)),
  );
  assert.ok(why.length > 0);
  assert.deepEqual(told, why);

  const side = (name, { conversations, scenarios, families }) => [name, ...[conversations, scenarios, families].map(count)];
  assert.deepEqual(await figuresOf(within, "Split"), [side("Train", split.train), side("Golden", split.golden)]);
  const asked = `${percent(split.golden_share)} golden of ${percent(split.golden_wanted)} requested`;
  await within.getByText(asked, { exact: false }).waitFor();

  const proof = within.getByRole("region", { name: "Leakage proof" });
  assert.deepEqual(await pairs(proof), {
    "Scenarios in both parts": count(leakage.scenarios),
    "Families in both parts": count(leakage.families),
    "Pairs of near-duplicates across the split": count(leakage.near_duplicates),
  });
  assert.ok(leakage.pairs > 0);
  const says = `All ${count(leakage.pairs)} pairs are covered, ${count(leakage.compared)} compared word for word, against a threshold of ${leakage.threshold.toFixed(2)}`;
  await proof.getByText(says, { exact: false }).waitFor();
  if (leakage.nearest) await proof.getByText(`by ${leakage.nearest.toFixed(2)}.`, { exact: false }).waitFor();
}

test("a selection, and the corpus that comes of it, show the funnel, the split and the proof of the API", () =>
  site.visit(`${PROJECT}/corpora/new?complexity=simple&complexity=medium&golden=0.3&balance=scenario`, async (page) => {
    await page.getByRole("combobox", { name: /^Balance/ }).selectOption("scenario");
    await page.getByLabel("Maximum per group").fill("1");
    await page.getByLabel("Maximum per group").press("Tab");
    const preview = page.getByRole("region", { name: "Preview" });
    await preview.getByText("Balanced").first().waitFor();
    await page.waitForFunction(() => document.querySelector(".preview").getAttribute("aria-busy") === "false");

    await page.getByRole("textbox", { name: /^Name/ }).fill("figures");
    const shown = await preview.getByRole("status").innerText();
    const before = await figuresOf(preview, "Funnel");
    await page.getByRole("button", { name: "Make the corpus" }).click();
    await page.waitForURL(/corpora\/[0-9a-f-]{36}$/);
    await page.getByText("ready", { exact: true }).waitFor();
    const corpus = await site.ask("GET", `/corpora/${page.url().split("/").at(-1)}`);
    const { split, funnel } = corpus.report;
    assert.ok(funnel.some(({ dropped }) => dropped > 0) && split.golden.conversations > 0, JSON.stringify(corpus.report));
    await reports(page.getByRole("main"), corpus.report);
    assert.deepEqual(await figuresOf(page.getByRole("main"), "Funnel"), before, "the corpus is what was previewed");
    const kept = split.train.conversations + split.golden.conversations;
    const parts = `${count(split.train.conversations)} train, ${count(split.golden.conversations)} golden`;
    assert.equal(shown, `${count(kept)} conversations: ${parts}`);
    const golden = await site.ask("GET", `/corpora/${corpus.id ?? corpus.summary.id}/conversations?split=golden&limit=200`);
    assert.equal(golden.items.length, split.golden.conversations);
  }));

test("what runs are like, and how two differ, are the figures of the API", async () => {
  const [other, run] = (await site.ask("GET", `${PROJECT}/runs`)).items;
  const { analytics } = await site.ask("GET", `/runs/${run.id}/analytics`);
  const { comparison, per_accepted, with_per_accepted } = await site.ask("GET", `/runs/${run.id}/comparison?with=${other.id}`);
  await site.visit(`${PROJECT}/runs/${run.id}/analytics?with=${other.id}`, async (page) => {
    await page.getByRole("heading", { name: "Means: this run (first) and the other run (second)" }).waitFor();
    const main = page.getByRole("main");

    // Distributions: every score and length, its mean and deviation, and how often each value occurs.
    const all = { ...analytics.scores, ...analytics.lengths };
    assert.ok(Object.keys(all).length > 5);
    for (const [name, { mean, deviation, quantiles, bins, n }] of Object.entries(all)) {
      const about = `${called(name)}: Mean ${figure(mean)} ± ${figure(deviation)}, median ${figure(quantiles[2])}`;
      await page.getByRole("img", { name: about, exact: true }).waitFor();
      const counted = (await figuresOf(main.getByRole("region", { name: "Scores and lengths" }), called(name))).map(([, n]) => Number(n));
      assert.equal(counted.reduce((sum, n) => sum + n, 0), n, name);
      if (bins.at(-1).value < 11) {
        for (const { value, count } of bins) assert.equal(counted[value], count, `${name} ${value}`);
      }
    }

    // Outcomes and who succeeds.
    const outcome = (name) => (name === "accepted" || name === "unfinished" ? words(name) : `failed: ${words(name)}`);
    const outcomes = analytics.outcomes.map(({ outcome: name, count: n, share }) => [outcome(name), count(n), percent(share)]);
    assert.deepEqual(await figuresOf(main, "Outcomes and blame"), outcomes);
    const groups = { persona: "By persona", complexity: "By complexity", scenario: "By scenario", tool: "By tools called", turns: "By turns" };
    for (const [kind, title] of Object.entries(groups)) {
      const row = ({ value, accepted: { rate, interval, count: n, of }, overall }) => [
        value,
        ...[rate, interval.low, interval.high].map(percent),
        ...[n, of].map(count),
        overall === undefined || overall === null ? "–" : overall.toFixed(2),
      ];
      assert.deepEqual(await figuresOf(main, title), analytics.groups[kind].groups.map(row), title);
    }

    // The two runs beside each other.
    const rate = ([name, { one, other, gap }]) => [
      words(name),
      `${one.count} of ${one.of}`,
      `${other.count} of ${other.of}`,
      percent(gap.difference),
      `${percent(gap.interval.low)} to ${percent(gap.interval.high)}`,
    ];
    const rates = Object.entries(comparison.rates).sort(([a], [b]) => (a < b ? -1 : 1));
    assert.ok(rates.length > 1);
    assert.deepEqual(await figuresOf(main, "Rates: the other run minus this one"), rates.map(rate));
    const means = page.getByRole("region", { name: "Means: this run (first) and the other run (second)" });
    const lengths = ["turns", "tool_calls"];
    const mean = ([name, { one, one_n, other, other_n, gap, effect }]) => [
      called(name),
      `${figure(one)} (n ${count(one_n)})`,
      `${figure(other)} (n ${count(other_n)})`,
      signed(other - one),
      gap ? `${signed(gap.interval.low)} to ${signed(gap.interval.high)}` : "–",
      effect === undefined || effect === null ? "–" : signed(effect),
    ];
    const sorted = Object.entries(comparison.means).sort(([a], [b]) => (a < b ? -1 : 1));
    const [inLengths, inScores] = [true, false].map((is) => sorted.filter(([name]) => lengths.includes(name) === is));
    assert.deepEqual(await figuresOf(means, "Scores"), inScores.map(mean));
    assert.deepEqual(await figuresOf(means, "Lengths"), inLengths.map(mean));
    const cost = (cost) => (cost === undefined || cost === null ? "–" : money(cost));
    await main.getByText(`${cost(per_accepted)} here, ${cost(with_per_accepted)} there`).waitFor();
  });
});

test("an export says how large it would be, and its commands are copied as they stand", async () => {
  const [run] = (await site.ask("GET", `${PROJECT}/runs`)).items;
  const spec = { source: { run: { id: run.id } }, profile: "canonical" };
  const preview = await site.ask("POST", `${PROJECT}/exports/preview`, spec);
  const bytes = (Buffer.byteLength(JSON.stringify(preview.record)) + 1) * preview.total;
  await site.visit(
    `${PROJECT}/exports/new?run=${run.id}&profile=canonical`,
    async (page) => {
      await page.locator("pre.record").waitFor();
      const strip = await pairs(page.locator(".preview dl.strip"));
      assert.equal(strip["Conversations to read"], count(preview.total));
      assert.equal(strip.File, preview.file_name);
      const [, number, unit] = /^about (\d+\.\d) (KiB|MiB) uncompressed$/.exec(strip["Estimated size"]);
      const told = Number(number) * (unit === "KiB" ? 1024 : 1024 ** 2);
      assert.ok(Math.abs(told - bytes) <= 0.06 * 1024 ** (unit === "KiB" ? 1 : 2), `${number} ${unit} are not ${bytes}`);
      assert.deepEqual(JSON.parse(await page.locator("pre.record").innerText()), preview.record);

      for (const label of ["Groundstate's command", "The same with curl"]) {
        const command = page.locator(".copyable", { has: page.getByLabel(label, { exact: true }) });
        await command.getByRole("button", { name: "Copy" }).click();
        await page.getByText("Copied.").last().waitFor();
        const copied = () => page.evaluate(() => navigator.clipboard.readText());
        const stands = await command.locator("code").textContent();
        for (let tries = 0; (await copied()) !== stands && tries < 50; tries += 1) await page.waitForTimeout(50);
        assert.equal(await copied(), stands, label);
      }
      await page.getByRole("button", { name: "Copy the record" }).click();
      await page.waitForFunction(async (id) => JSON.parse(await navigator.clipboard.readText().catch(() => "{}")).id === id, preview.record.id);
    },
    { permissions: ["clipboard-read", "clipboard-write"] },
  );
});

test("facets and histograms of a narrowed list count what the API counts", async () => {
  const narrowed = "outcome=accepted&min_turns=2&complexity=simple";
  const { facets, scores, lengths, matching } = await site.ask("GET", `${PROJECT}/conversations/facets?${narrowed}`);
  assert.ok(matching > 0, "nothing is like that");
  await site.visit(`${PROJECT}/conversations?${narrowed}`, async (page) => {
    await page.locator(".toolbar .count").getByText(new RegExp(`^${count(matching)} (of|conversation)`)).waitFor();
    const field = (label) => page.locator("fieldset.facet", { has: page.locator("legend", { hasText: new RegExp(`^${label}$`) }) });
    /** Bars that are not empty: what each stands for, and how many there are. */
    const bars = async (label) => {
      const titles = await field(label).locator("rect.bar title").allTextContents();
      return titles.map((title) => title.split(": ")).filter(([, n]) => n !== "0");
    };
    const expected = (bins) => bins.filter(({ count }) => count > 0).map(({ value, count }) => [`${value}`, `${count}`]);
    for (const [label, bins] of [["Overall score", scores.overall], ["Turns", lengths.turns], ["Tool calls", lengths.tool_calls]]) {
      assert.deepEqual(await bars(label), expected(bins), label);
    }
    for (const [label, name] of [["Complexity", "complexity"], ["Outcome", "outcome"], ["Blame", "blame"]]) {
      const { values } = facets.find((facet) => facet.name === name) ?? { values: [] };
      const rows = await field(label).locator("li").allInnerTexts();
      const told = rows.map((row) => row.split(/\s*\n\s*/)).map(([what, n]) => [what.toLowerCase(), n]);
      const all = values.map((one) => [words(one.value).toLowerCase(), count(one.count)]);
      assert.deepEqual(told.sort(), all.sort(), label);
    }
  });
});

test("whatever is chosen in the form of a selection is what the corpus is selected by", () =>
  site.visit(`${PROJECT}/corpora/new`, async (page) => {
    const preview = page.getByRole("region", { name: "Preview" });
    await preview.getByText(/^\d+ conversations: /).waitFor();
    const type = async (label, text) => {
      const field = page.getByLabel(label);
      await field.fill(text);
      await field.press("Tab");
    };
    await page.getByLabel("The user's goal was achieved").check();
    await page.getByLabel(/^Also failures of the agent/).check();
    await type("Overall score: best share in percent", "50");
    await type("Overall score: at most", "9");
    await page.getByRole("combobox", { name: /^Personal data/ }).selectOption("keep");
    await page.getByRole("combobox", { name: /^Secrets/ }).selectOption("keep");
    await page.getByLabel("Keep only the best of identical conversations").uncheck();
    await page.getByLabel("Keep only the best of near-duplicates").check();
    await type(/^Minimum resemblance of near-duplicates/, "0.95");
    await page.getByRole("combobox", { name: /^Balance/ }).selectOption("persona");
    await type(/^Maximum in total/, "17");
    await type("Golden share, in %", "20");
    await type("Seed", "5");
    await type(/^Name/, "chosen");
    await page.getByRole("button", { name: "Make the corpus" }).click();
    await page.waitForURL(/corpora\/[0-9a-f-]{36}/);
    const { spec } = await site.ask("GET", `/corpora/${new URL(page.url()).pathname.split("/").at(-1)}`);
    const { filter, ...steps } = spec;
    assert.deepEqual(steps, {
      scan: { pii: "keep", secrets: "keep" },
      duplicates: { exact: false, near: 0.95 },
      balance: { by: "persona" },
      limit: 17,
      split: { golden: 0.2, seed: 5, near: spec.split.near },
    });
    assert.equal(filter.goal_achieved, true);
    assert.deepEqual([...filter.outcomes].sort(), ["accepted", "failed"]);
    assert.deepEqual(filter.top, [{ share: 0.5 }]);
    assert.equal(filter.max_overall, 9);
  }));
