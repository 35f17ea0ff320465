// The code editor as it is bundled, under the server's content security policy. It needs no server and no database.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";

import { serveAssets } from "./support/assets.mjs";
import { fits, openPage, screenshot, startBrowser } from "./support/browser.mjs";

const TEXT = `# What the shop does
name: shop
agent: react
tools:
  - name: refund
    writes: [orders]
`;
const SCHEMA = {
  type: "object",
  additionalProperties: false,
  required: ["name"],
  properties: {
    name: { type: "string", description: "Name of the folder." },
    agent: { $ref: "#/$defs/Agent", default: "react" },
    judge: { type: "string", description: "Name of the folder under judges/." },
    strict: { type: "boolean" },
    tools: { type: "array", items: { $ref: "#/$defs/Tool" } },
  },
  $defs: {
    Agent: {
      description: "How the agent calls tools.",
      oneOf: [
        { const: "function_calling", description: "The endpoint's own." },
        { const: "react", description: "As text." },
      ],
    },
    Tool: {
      type: "object",
      properties: { name: { type: "string" }, writes: { type: "array" }, timeout: { type: "integer" } },
    },
  },
};

let assets;
let browser;

before(async () => {
  assets = await serveAssets();
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  await assets?.stop();
});

/** A page with one editor, as `window.editor`; what it tells stands in `window.told`. No error may come up. */
async function editor(options, look, browserOptions = {}) {
  const { page, errors, close } = await openPage(browser, browserOptions);
  try {
    await page.goto(assets.url);
    await page.evaluate(
      async ({ module, options }) => {
        const { create } = await import(module);
        window.told = [];
        window.editor = create(document.getElementById("place"), {
          label: "Playbook",
          ...options,
          onChange: (text) => window.told.push(["change", text]),
          onSave: () => window.told.push(["save"]),
        });
      },
      { module: assets.named("editor", "js"), options },
    );
    await look(page, page.getByRole("textbox", { name: "Playbook" }));
    assert.deepEqual(errors, [], "errors in the console");
  } catch (error) {
    await screenshot(page, "failed");
    throw error;
  } finally {
    await close();
  }
}

const call = (page, name, ...args) => page.evaluate(({ name, args }) => window.editor[name](...args), { name, args });
const told = (page) => page.evaluate(() => window.told);
const text = (page) => call(page, "text");
/** The colour of an element, and the one of a design token, both as the browser computes them. */
const colorOf = (locator, property = "color") =>
  locator.evaluate((element, name) => getComputedStyle(element)[name], property);
const token = (page, name) =>
  page.evaluate((name) => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = `var(${name})`;
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  }, name);
const word = (page, value) => page.locator(".cm-line span", { hasText: new RegExp(`^${value}$`) }).first();
const options = (page) => page.locator(".cm-tooltip-autocomplete li");

/** Opens completion at the end of the text and gives what it offers. */
async function offered(page) {
  await page.keyboard.press("Control+Space");
  await options(page).first().waitFor();
  return page.locator(".cm-tooltip-autocomplete li .cm-completionLabel").allInnerTexts();
}

/** A list that has just come up takes no key yet, lest it be one that was meant for the text. */
async function choose(page, ...keys) {
  await page.waitForTimeout(150);
  for (const key of keys) {
    await page.keyboard.press(key);
  }
}

/** Writes as an input method does: what is chosen last takes the place of what was spelt. */
async function compose(page, ...steps) {
  const chromium = await page.context().newCDPSession(page);
  for (const text of steps.slice(0, -1)) {
    await chromium.send("Input.imeSetComposition", { text, selectionStart: text.length, selectionEnd: text.length });
  }
  await chromium.send("Input.insertText", { text: steps.at(-1) });
}

async function toEnd(page, box) {
  await box.focus();
  await page.keyboard.press("Control+End");
}

test("the first page does not load the editor, and knows where it is", async () => {
  const dist = (name) => readFile(path.join(process.env.WEB_DIST, name), "utf8");
  const name = path.basename(assets.named("editor", "js"));
  assert.ok(!(await dist("index.html")).includes("editor"));
  const boot = await dist(path.basename(assets.named("boot", "js")));
  assert.ok(boot.includes(`() => import('./${name}')`), boot);
});

test("keys, texts and comments have the colours of the app", () =>
  editor({ text: TEXT, language: "yaml" }, async (page) => {
    await word(page, "agent").waitFor();
    assert.equal(await colorOf(word(page, "agent")), await token(page, "--accent"));
    assert.equal(await colorOf(word(page, "# What the shop does")), await token(page, "--ink-muted"));
    assert.equal(await page.locator(".cm-lineNumbers .cm-gutterElement", { hasText: /^6$/ }).count(), 1);
    await screenshot(page, "editor");
  }));

test("what is typed is told after a pause, and before it is saved", () =>
  editor({ text: "a: 1\n", language: "yaml" }, async (page, box) => {
    await toEnd(page, box);
    await page.keyboard.type("b: 2");
    await page.waitForFunction(() => window.told.length > 0);
    assert.deepEqual(await told(page), [["change", "a: 1\nb: 2"]]);
    await page.keyboard.type("3");
    await page.keyboard.press("Control+s");
    assert.deepEqual((await told(page)).slice(1), [["change", "a: 1\nb: 23"], ["save"]]);
    await page.keyboard.type("4");
    await page.locator("#after").focus();
    assert.deepEqual((await told(page)).at(-1), ["change", "a: 1\nb: 234"]);
  }));

// Chromium's own way would put styles into the text, which the policy forbids and the console tells of.
test("what is typed, wrapped or composed over a selection is the editor's own change", () =>
  editor({ text: TEXT, language: "yaml" }, async (page, box) => {
    await box.focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("a: b");
    assert.equal(await text(page), "a: b");
    await page.keyboard.press("Control+z");
    assert.equal(await text(page), TEXT);
    await page.keyboard.press("Control+a");
    await page.keyboard.type("{");
    assert.equal(await text(page), `{${TEXT}}`);
    await compose(page, "n", "ni", "你");
    assert.equal(await text(page), "{你}");
  }));

test("a text of the app's comes in without an echo, keeps the cursor, and can be undone", () =>
  editor({ text: "a: 1\nb: 2\n", language: "yaml" }, async (page, box) => {
    await toEnd(page, box);
    await call(page, "replace", "a: 100\r\nb: 2\r\n");
    await page.keyboard.type("c: 3");
    assert.equal(await text(page), "a: 100\nb: 2\nc: 3");
    await page.waitForFunction(() => window.told.at(-1)?.[1].endsWith("c: 3"));
    // On a busy machine a pause falls between the keys. The app's own text is never told.
    for (const [what, text] of await told(page)) {
      assert.equal(what, "change");
      assert.match(text, /^a: 100\nb: 2\nc/);
    }
    await page.keyboard.press("Control+z");
    await page.keyboard.press("Control+z");
    assert.equal(await text(page), "a: 1\nb: 2\n");
  }));

test("fields are completed from the schema, and then their values", () =>
  editor({ text: TEXT, language: "yaml", schema: SCHEMA }, async (page, box) => {
    await toEnd(page, box);
    assert.deepEqual(await offered(page), ["judge", "strict"]);
    await page.locator(".cm-completionInfo", { hasText: "Name of the folder under judges/." }).waitFor();
    await screenshot(page, "editor-completion");
    await page.keyboard.press("Escape");
    await page.keyboard.type("str");
    await options(page).first().waitFor();
    await choose(page, "Enter");
    await page.locator(".cm-completionLabel", { hasText: "true" }).waitFor();
    await choose(page, "ArrowDown", "Enter");
    assert.equal(await text(page), `${TEXT}strict: false`);
  }));

test("a list begins with its first item", () =>
  editor({ text: "name: shop\n", language: "yaml", schema: SCHEMA }, async (page, box) => {
    await toEnd(page, box);
    await page.keyboard.type("too");
    await options(page).first().waitFor();
    await choose(page, "Enter");
    await page.locator(".cm-completionLabel", { hasText: "timeout" }).waitFor();
    assert.equal(await text(page), "name: shop\ntools:\n  - ");
  }));

test("names that the app knows are offered where it says so, also when they are given later", () =>
  editor({ text: "script:\n  - tool: ", language: "yaml" }, async (page, box) => {
    const names = {
      pointer: "/script/*/tool",
      options: [{ label: "refund_fee", detail: "tool", info: "Gives a fee back." }],
    };
    await call(page, "completions", [names]);
    await toEnd(page, box);
    assert.deepEqual(await offered(page), ["refund_fee"]);
    await choose(page, "Enter");
    assert.equal(await text(page), "script:\n  - tool: refund_fee");
  }));

test("names are completed within expressions and templates", () => {
  const code = (language) => ({ type: "string", "x-language": language });
  const given = {
    text: 'prompt: "Hello {{ c }}"\nwhen: len(ch',
    language: "yaml",
    schema: { type: "object", properties: { when: code("expression"), prompt: code("template") } },
    completions: [{ pointer: "/*", languages: ["expression", "template"], options: [{ label: "checked" }] }],
  };
  return editor(given, async (page, box) => {
    await toEnd(page, box);
    assert.deepEqual(await offered(page), ["checked"]);
    await choose(page, "Enter");
    await page.keyboard.type(") > 0");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("End");
    for (let i = 0; i < ' }}"'.length; i += 1) await page.keyboard.press("ArrowLeft");
    assert.deepEqual(await offered(page), ["checked"]);
    await choose(page, "Enter");
    assert.equal(await text(page), 'prompt: "Hello {{ checked }}"\nwhen: len(checked) > 0');
  });
});

test("names are completed in the tags of a template's file, and not in its prose", () => {
  const completions = [{ pointer: "", languages: ["template"], options: [{ label: "checked", detail: "step" }] }];
  return editor({ text: "It is che {{ che", language: "jinja", completions }, async (page, box) => {
    await toEnd(page, box);
    assert.ok((await offered(page)).includes("checked"));
    await page.keyboard.press("Escape");
    for (let i = 0; i < " {{ che".length; i += 1) await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Control+Space");
    await page.waitForTimeout(300);
    assert.equal(await options(page).count(), 0);
  });
});

test("a field says what it means when it is pointed at", () =>
  editor({ text: TEXT, language: "yaml" }, async (page) => {
    await call(page, "schema", SCHEMA);
    await word(page, "agent").hover();
    const help = page.locator(".cm-schema");
    await help.waitFor();
    const lines = [
      "agent",
      "How the agent calls tools.",
      "As text.",
      "One of: function_calling, react",
      "Default: react",
    ];
    assert.deepEqual((await help.innerText()).split(/\n+/), lines);
    await screenshot(page, "editor-hover");
  }));

test("problems are underlined where they stand, stay there while one types, and go", () =>
  editor({ text: TEXT, language: "yaml" }, async (page, box) => {
    await call(page, "problems", [
      { severity: "error", pointer: "/tools/0/writes", line: 6, message: "orders is no collection." },
      { severity: "warning", pointer: "", line: 2, message: "Another folder has this name." },
      { severity: "info", pointer: "/tools/0/absent", line: 5, message: "A description would help." },
    ]);
    const [wrong, doubtful] = [page.locator(".cm-lintRange-error"), page.locator(".cm-lintRange-warning")];
    assert.equal(await wrong.innerText(), "writes");
    assert.equal((await doubtful.allInnerTexts()).join(""), "name: shop");
    assert.equal((await page.locator(".cm-lintRange-info").allInnerTexts()).join(""), "name: refund");
    assert.match(await colorOf(wrong, "textDecoration"), /wavy/);
    assert.equal(await colorOf(wrong, "textDecorationColor"), await token(page, "--bad"));
    assert.equal(await page.locator(".cm-gutter-lint .cm-lint-marker-error").count(), 1);
    await box.focus();
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("first: 1\n");
    assert.equal(await wrong.innerText(), "writes");
    await wrong.hover();
    await page.locator(".cm-diagnostic", { hasText: "orders is no collection." }).waitFor();
    await screenshot(page, "editor-problems");
    await call(page, "problems", []);
    assert.equal(await wrong.count(), 0);
  }));

test("a place is shown by pointer and by line", () =>
  editor({ text: `list:\n${"  - {x: 1}\n".repeat(500)}last: 1\n`, language: "yaml" }, async (page) => {
    await call(page, "reveal", "/last");
    await page.locator(".cm-line", { hasText: "last: 1" }).waitFor();
    await call(page, "focus");
    await page.keyboard.type("the_");
    assert.match(await text(page), /\nthe_last: 1\n$/);
    await call(page, "reveal", 1);
    await page.keyboard.type("a_");
    assert.match(await text(page), /^a_list:\n/);
  }));

test("Tab indents; Escape and Tab leave", () =>
  editor({ text: "a:\nb: 1", language: "yaml" }, async (page, box) => {
    await toEnd(page, box);
    await page.keyboard.press("Tab");
    assert.equal(await text(page), "a:\n  b: 1");
    assert.equal(await page.evaluate(() => document.activeElement.id), "");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "after");
    assert.equal(await text(page), "a:\n  b: 1");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Shift+Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "before");
    const hint = await box.evaluate(
      (element) => element.getRootNode().getElementById(element.getAttribute("aria-describedby")).textContent,
    );
    assert.match(hint, /Escape, then Tab/);
  }));

test("the dark theme is the app's, and so is any other", () =>
  editor(
    { text: TEXT, language: "yaml" },
    async (page) => {
      const frame = page.locator(".cm-editor");
      const dark = await colorOf(frame, "backgroundColor");
      assert.equal(dark, await token(page, "--surface"));
      await page.emulateMedia({ colorScheme: "light" });
      assert.notEqual(await colorOf(frame, "backgroundColor"), dark);
      await page.emulateMedia({ colorScheme: "dark" });
      await page.evaluate(() => document.documentElement.style.setProperty("--surface", "rgb(1, 2, 3)"));
      assert.equal(await colorOf(frame, "backgroundColor"), "rgb(1, 2, 3)");
      await page.evaluate(() => document.documentElement.style.removeProperty("--surface"));
      await call(page, "focus");
      await page.keyboard.press("Control+f");
      await page.locator(".cm-panel.cm-search").waitFor();
      assert.equal(await colorOf(page.locator(".cm-panels"), "backgroundColor"), await token(page, "--sunken"));
      await screenshot(page, "editor-dark");
    },
    { colorScheme: "dark" },
  ));

test("long words and narrow screens do not scroll sideways", () =>
  editor(
    { text: `key: ${"x".repeat(2000)}\n${TEXT}`, language: "yaml", schema: SCHEMA },
    async (page, box) => {
      await fits(page);
      const inner = await page.locator(".cm-scroller").evaluate((element) => element.scrollWidth > element.clientWidth);
      assert.equal(inner, false);
      await toEnd(page, box);
      await offered(page);
      await page.keyboard.press("Control+f");
      await fits(page);
      await screenshot(page, "editor-narrow");
    },
    { viewport: { width: 360, height: 740 } },
  ));

test("Starlark is highlighted and completed as tools are written", () =>
  editor({ text: "def get(world, ctx):\n    # why\n    return ", language: "starlark" }, async (page, box) => {
    await word(page, "def").waitFor();
    assert.equal(await colorOf(word(page, "def")), await token(page, "--bad"));
    await toEnd(page, box);
    await page.keyboard.type("fre");
    await options(page).first().waitFor();
    const labels = await page.locator(".cm-tooltip-autocomplete li .cm-completionLabel").allInnerTexts();
    assert.ok(labels.includes("fresh_id"), labels);
    assert.ok(!labels.includes("frozenset"), "Starlark has no frozenset");
  }));

test("Jinja is highlighted within its Markdown", () =>
  editor(
    { text: "# Always\n\n{% for rule in rules -%}\n- {{ rule | upper }}\n{% endfor %}\n", language: "jinja" },
    async (page) => {
      await word(page, "for").waitFor();
      assert.equal(await colorOf(word(page, "for")), await token(page, "--bad"));
      assert.equal(await colorOf(page.locator(".cm-line span", { hasText: "Always" }).last(), "fontWeight"), "600");
    },
  ));

test("JSON has places, too", () =>
  editor({ text: '{"a": {"b": 1}}', language: "json" }, async (page) => {
    await call(page, "problems", [{ severity: "error", pointer: "/a/b", message: "wrong" }]);
    assert.equal(await page.locator(".cm-lintRange-error").innerText(), '"b"');
  }));

test("what may only be read is not written", () =>
  editor({ text: TEXT, language: "yaml", readOnly: true }, async (page, box) => {
    await box.focus();
    await page.keyboard.type("x");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("x");
    assert.equal(await text(page), TEXT);
    assert.equal(await box.getAttribute("aria-readonly"), "true");
    await call(page, "readOnly", false);
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("x");
    assert.equal(await text(page), `x${TEXT}`);
  }));

test("an editor that goes tells what it has not told, and leaves nothing", () =>
  editor({ text: "a: 1\n", language: "yaml" }, async (page, box) => {
    await toEnd(page, box);
    await page.keyboard.type("b: 2");
    await call(page, "destroy");
    assert.deepEqual(await told(page), [["change", "a: 1\nb: 2"]]);
    assert.equal(await page.locator("#place > *").count(), 0);
  }));

test("an unknown language is an error, not a plain text", () =>
  editor({ text: "", language: "yaml" }, async (page) => {
    const failure = await page.evaluate(
      async (module) => {
        const { create } = await import(module);
        try {
          create(document.body, { language: "cobol" });
          return null;
        } catch (error) {
          return [error.message, document.body.lastElementChild.tagName];
        }
      },
      assets.named("editor", "js"),
    );
    assert.deepEqual(failure, ["there is no language cobol", "MAIN"]);
  }));

test("a megabyte can be typed in, and its last field is found", () => {
  const record =
    "  - name: refund\n    description: >-\n      Gives a fee back, if that is due.\n    args: {a: 1, b: [x, y]}\n";
  const big = `name: shop\ntools:\n${record.repeat(Math.ceil(1_000_000 / record.length))}`;
  const last = (big.match(/- name/g)?.length ?? 0) - 1;
  return editor({ text: big, language: "yaml", schema: SCHEMA }, async (page, box) => {
    await box.focus();
    await call(page, "problems", [{ severity: "error", pointer: `/tools/${last}/args`, line: 1, message: "wrong" }]);
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("ju: of many words\n", { delay: 30 });
    assert.match(await text(page), /^ju: of many words\nname: shop/);
    await page.keyboard.press("Control+End");
    const wrong = page.locator(".cm-lintRange-error");
    await wrong.waitFor();
    assert.equal(await wrong.innerText(), "args");
  });
});
