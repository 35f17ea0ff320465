// README.md as somebody new follows it: its commands as they stand there, in a clone of the repository, and the pages that
// they lead to. `cargo xtask test --only readme` makes the clone and runs this.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { after, before, test } from "node:test";

import { openPage, startBrowser } from "./support/browser.mjs";
import { ADMINISTRATOR, NOBODY_YET, choosePassword } from "./support/people.mjs";
import { FIRST_LINK } from "./support/server.mjs";

const CLONE = process.env.README_CLONE;
const BUILD_LIMIT_MS = 40 * 60_000;
const COMMAND_LIMIT_MS = 10 * 60_000;

const readme = await readFile(path.join(CLONE, "README.md"), "utf8");

/** The one block of commands that contains these words, without installing Rust: that is for whoever has none. */
function block(words) {
  const all = [...readme.matchAll(/^```sh\n(.*?)^```/gms)].map(([, text]) => text).filter((text) => text.includes(words));
  assert.equal(all.length, 1, `README.md has ${all.length} blocks with ${words}`);
  return all[0].replace(/^.*sh\.rustup\.rs.*$/m, "");
}

/** What a shell in the clone makes of a block. `exit` gives its code; `said` what it printed so far. */
function paste(commands, variables = {}) {
  const env = { ...process.env, ...variables };
  const child = spawn("bash", ["-ec", commands], { cwd: CLONE, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const job = { child, said: "", heard: () => {} };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => job.heard((job.said += text)));
  }
  job.exit = once(child, "close").then(([code, signal]) => signal ?? code);
  job.stop = (signal) => process.kill(-child.pid, signal);
  return job;
}

async function within(limit, what, promise, job) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} takes too long\n${job.said}`)), limit);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function done(commands, variables) {
  const job = paste(commands, variables);
  const code = await within(COMMAND_LIMIT_MS, commands, job.exit, job);
  assert.equal(code, 0, `${commands}\n${job.said}`);
  return job.said;
}

/** What a schema allows, for replies that are held to one: judges are content. */
function example(schema, place = 0) {
  // In a list, each place has another one: judges score every criterion.
  if (schema.enum) return schema.enum[place % schema.enum.length];
  switch ([schema.type].flat()[0]) {
    case "object":
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, own]) => [name, example(own, place)]));
    case "array":
      return Array.from({ length: schema.minItems ?? 0 }, (_, place) => example(schema.items, place));
    case "string":
      return "Done.";
    case "boolean":
      return true;
    default:
      return Math.min(schema.maximum ?? 8, 8);
  }
}

/** Stands for the models of README: it says the same to everybody, and what fits to whoever asks by a schema. */
async function startModels() {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request.setEncoding("utf8")) body += part;
    const { response_format: format, messages } = JSON.parse(body);
    const schema = format?.json_schema?.schema;
    const content = schema ? JSON.stringify(example(schema)) : "Could you please help me with that, as soon as you can?";
    const usage = { prompt_tokens: messages.length, completion_tokens: 9 };
    const message = { role: "assistant", content };
    response.writeHead(200, { "content-type": "application/json" });
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    response.end(JSON.stringify({ object: "chat.completion", choices, usage }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { url: `http://127.0.0.1:${server.address().port}/v1`, stop: () => server.close() };
}

const lines = async (name) => (await readFile(path.join(CLONE, name), "utf8")).trim().split("\n");

let demo, link, browser, window, models;

before(async () => {
  browser = await startBrowser();
  models = await startModels();
  demo = paste(block("cargo xtask demo"));
  const served = new Promise((resolve) => {
    demo.heard = (said) => FIRST_LINK.test(said) && resolve();
  });
  await within(BUILD_LIMIT_MS, "the demo", Promise.race([served, demo.exit]), demo);
  const found = FIRST_LINK.exec(demo.said);
  assert.ok(found, `the demo prints no link\n${demo.said}`);
  link = found[1];
});

after(async () => {
  await window?.close();
  await browser?.close();
  models?.stop();
  if (demo) {
    demo.stop("SIGINT");
    await within(60_000, "ending the demo", demo.exit, demo).catch(() => demo.stop("SIGKILL"));
  }
});

test("the demo writes rows", async () => {
  const rows = (await lines("demo-rows.jsonl")).map((line) => JSON.parse(line));
  assert.ok(rows.length >= 40, `${rows.length} of 48`);
  for (const row of rows) {
    assert.deepEqual(Object.keys(row), ["messages", "tools", "metadata"]);
  }
});

test("the link leads to a project that is filled, and New run plays at once", async () => {
  window = await openPage(browser, { viewport: { width: 1400, height: 900 } });
  const { page } = window;
  await page.goto(link);
  await choosePassword(page, ADMINISTRATOR);
  await page.waitForURL("**/projects/default");
  for (const name of ["Scenarios", "Playbooks", "Personas", "Judges"]) {
    await page.getByRole("link", { name, exact: true }).first().click();
    await page.getByRole("heading", { name, exact: true }).first().waitFor();
    await page.locator("table.rows tbody a").first().waitFor();
  }
  await page.getByRole("link", { name: "Runs", exact: true }).first().click();
  await page.getByRole("link", { name: "New run" }).click();
  await page.getByRole("button", { name: "Start the run" }).click();
  await page.waitForURL(/runs\/[0-9a-f-]{36}$/);
  await page.locator("dl.strip dd").first().getByText("finished").waitFor();

  await page.getByRole("tab", { name: "Conversations" }).click();
  await page.locator("table.rows tbody a").first().click();
  await page.locator(".bubble.agent").first().waitFor();
  await page.locator("a[href*='/scenarios/']").first().click();
  await page.waitForURL("**/scenarios/*");
  await page.getByRole("heading").first().waitFor();
});

test("models of one's own play, and their rows are exported", async () => {
  const commands = block("generate --playbook").replaceAll(/https?:\/\/[^\s@]+\/v1/g, models.url);
  assert.match(commands, /my-model@/);
  const said = await done(commands, { EXAMPLE_API_KEY: "secret" });
  assert.match(said, /^run +[0-9a-f-]{36}$/m);
  await done(block("export --profile"));
  await lines("train.jsonl");
});

test("an export of a server is downloaded with a token", async () => {
  const { page } = window;
  const ask = (method, at, body) =>
    page.evaluate(
      async ([method, at, body]) => {
        const { csrf_token } = await (await fetch("/api/v1/session")).json();
        const headers = { "x-csrf-token": csrf_token, "content-type": "application/json" };
        const answer = await fetch(`/api/v1${at}`, { method, headers, body: body && JSON.stringify(body) });
        return answer.json();
      },
      [method, at, body],
    );
  const { items } = await ask("GET", "/projects/default/runs");
  const played = items.find(({ accepted }) => accepted > 0);
  const order = { source: { run: { id: played.id } }, profile: "trl" };
  const made = await ask("POST", "/projects/default/exports", order);
  for (;;) {
    const { state } = await ask("GET", `/exports/${made.id}`);
    if (state === "ready") break;
    assert.ok(!["failed", "cancelled"].includes(state), state);
    await page.waitForTimeout(200);
  }
  const { secret } = await ask("POST", "/tokens", { name: "readme", scopes: ["read"] });
  await done(block("/api/v1/exports/EXPORT/file").replace("EXPORT", made.id), { TOKEN: secret });
  const records = (await lines("train.jsonl")).map((line) => JSON.parse(line));
  assert.equal(records.length, played.accepted);
  assert.ok(records.every(({ messages }) => messages.length > 1));
  const left = window.errors.filter((error) => !NOBODY_YET.test(error));
  assert.deepEqual(left, []);
});
