// Who signs in, and how: through the pages, as people do.

import { openPage } from "./browser.mjs";

export const ADMINISTRATOR = { name: "mira", password: "violet tractor ninety" };

/** What Chromium itself reports when nobody is signed in yet and the app asks who is. */
export const NOBODY_YET = /status of 401/;

/** Opens the server's first link, becomes its administrator, and gives the state with which other pages are signed in. */
export async function firstStart(browser, server) {
  const { page, close } = await openPage(browser);
  try {
    await page.goto(server.link);
    await choosePassword(page, ADMINISTRATOR);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    return await page.context().storageState();
  } finally {
    await close();
  }
}

/** Fills in and sends the form of a one-time link. Only the first administrator chooses a name. */
export async function choosePassword(page, { name, password, again = password }) {
  if (name) {
    await page.getByLabel("Name").fill(name);
  }
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByLabel("Password, again").fill(again);
  await page.getByRole("button", { name: "Begin" }).click();
}

export async function signIn(page, { name, password }) {
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByLabel("Password").press("Enter");
}
