// How people come in and go out, from the first start on.

import assert from "node:assert/strict";
import { test } from "node:test";

import { NARROW_DARK, fits, screenshot } from "./support/browser.mjs";
import { ADMINISTRATOR, choosePassword, signIn } from "./support/people.mjs";
import { PROJECT, story } from "./support/story.mjs";

const UNKNOWN = `${PROJECT}/conversations/00000000-0000-7000-8000-000000000000`;

const site = story({ n: 1, seed: 2, administrated: false });

async function isSignedIn(page, name) {
  const menu = page.getByRole("button", { name: "Menu" });
  await page.locator(".shell").waitFor();
  if (await menu.isVisible()) {
    await menu.click();
  }
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  assert.match(await page.locator(".account").innerText(), new RegExp(`Signed in as ${name}`));
}

/** What a form says when it is refused. */
async function refusal(page) {
  const alert = page.getByRole("alert");
  await alert.waitFor();
  return alert.innerText();
}

const focused = (page) => page.evaluate(() => document.activeElement.id);

// The tests below are one story: each begins where the one before ended.

test("before anybody is there, every page leads to the sign-in page", () =>
  site.stranger(UNKNOWN, async (page) => {
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    assert.equal(new URL(page.url()).pathname, "/sign-in");
    assert.equal(await page.getByRole("button", { name: "Sign out" }).count(), 0);
  }));

test("the first link asks for a name and a password, and says what is wrong with them", () =>
  site.stranger(
    site.server.link,
    async (page) => {
      await page.getByRole("heading", { name: "Welcome to Groundstate" }).waitFor();
      await page.waitForFunction(() => document.activeElement.id === "name");
      assert.equal(await page.getByLabel("Password", { exact: true }).getAttribute("autocomplete"), "new-password");
      assert.equal(await page.getByLabel("Name").getAttribute("autocomplete"), "username");
      await fits(page);
      await screenshot(page, "welcome-narrow");

      await choosePassword(page, { ...ADMINISTRATOR, again: "violet tractor nineteen" });
      assert.equal(await refusal(page), "The two passwords differ.");
      await choosePassword(page, { ...ADMINISTRATOR, password: "short" });
      await page.getByText("Password: use at least 10 characters.").waitFor();
      await choosePassword(page, { ...ADMINISTRATOR, name: "Mira West" });
      await page.getByText("Name: use 1 to 64 letters").waitFor();
    },
    // Chromium itself reports refusals.
    { ...NARROW_DARK, expected: [/status of 422/] },
  ));

test("the first link makes an administrator, whose session survives a reload and leaves no secret in the history", () =>
  site.stranger(site.server.link, async (page) => {
    await choosePassword(page, ADMINISTRATOR);
    await isSignedIn(page, ADMINISTRATOR.name);
    await page.locator("table.rows tbody tr").first().waitFor();
    assert.equal(page.url(), `${site.url}${PROJECT}`);
    await page.reload();
    await isSignedIn(page, ADMINISTRATOR.name);
    await page.goBack();
    assert.equal(page.url().includes("welcome"), false);
  }));

test("a link opens once", () =>
  site.stranger(
    site.server.link,
    async (page) => {
      await page.getByRole("heading", { name: "This link is no longer valid." }).waitFor();
      assert.match(await refusal(page), /groundstate users link NAME/);
      await screenshot(page, "welcome-spent");
      await page.getByRole("main").getByRole("link", { name: "sign in" }).click();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
    },
    { expected: [/status of 403/] },
  ));

test("a wrong password is refused, the right one leads back to where one was", () =>
  site.stranger(
    UNKNOWN,
    async (page) => {
      await page.waitForFunction(() => document.activeElement.id === "name");
      await screenshot(page, "sign-in");
      await signIn(page, { ...ADMINISTRATOR, password: "violet tractor nineteen" });
      assert.equal(await refusal(page), "The name or the password is wrong.");
      assert.equal(await focused(page), "password");
      await screenshot(page, "sign-in-refused");
      await signIn(page, ADMINISTRATOR);
      await isSignedIn(page, ADMINISTRATOR.name);
      assert.equal(new URL(page.url()).pathname, UNKNOWN);
    },
    { ...NARROW_DARK, expected: [/status of 403/, /status of 404/] },
  ));

test("signing out ends the session, on the server too", () =>
  site.stranger("/sign-in", async (page) => {
    await signIn(page, ADMINISTRATOR);
    await isSignedIn(page, ADMINISTRATOR.name);
    const before = await page.context().cookies();
    await page.getByRole("button", { name: "Sign out" }).press("Enter");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    assert.deepEqual(await page.context().cookies(), []);
    await page.context().addCookies(before);
    await page.goto("/");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
  }));

test("somebody who is invited chooses a password and sees what they are a member of", async () => {
  const link = (await site.server.run("users", "create", "noor", "--url", site.url)).trim();
  await site.stranger(link, async (page) => {
    const name = page.getByLabel("Name");
    await name.waitFor();
    assert.equal(await name.inputValue(), "noor");
    assert.equal(await name.isEditable(), false);
    await choosePassword(page, { password: "seven quiet lanterns" });
    await isSignedIn(page, "noor");
    await page.getByRole("heading", { name: "You are not a member of any project yet." }).waitFor();
  });
});

test("whoever guesses hears how long to wait", () =>
  site.stranger(
    "/sign-in",
    async (page) => {
      // Of nobody's name, and last: this address must wait, too.
      for (let guess = 0; guess < 7; guess += 1) {
        const answered = page.waitForResponse((r) => r.url().endsWith("/session") && r.request().method() === "POST");
        await signIn(page, { name: "nobody", password: `guess number ${guess}` });
        if ((await answered).status() === 429) {
          break;
        }
      }
      await page.getByText(/Too many attempts; wait \d+ seconds\./).waitFor();
      await screenshot(page, "sign-in-wait");
    },
    { expected: [/status of 403/, /status of 429/] },
  ));

test("the reference of the API runs under the strict policy", () =>
  site.stranger("/api/docs/", async (page) => {
    await page.locator(".opblock").first().waitFor();
    await page.locator(".opblock-summary-control").first().click();
    await page.locator(".opblock-body").first().waitFor();
    await screenshot(page, "api-docs");
  }));
