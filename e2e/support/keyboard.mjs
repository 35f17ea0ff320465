// Going through a page by keys alone.

/** More stops than a page has. */
const A_ROUND = 600;

/** Presses Tab until the element has the focus; fails if a whole round does not come to it. */
export async function tabTo(page, target, key = "Tab") {
  await target.waitFor();
  for (let stop = 0; stop < A_ROUND; stop += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) {
      return;
    }
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not lead to ${target}`);
}

/** Goes there by Tab, and presses a key. */
export async function pressAt(page, target, key = "Enter") {
  await tabTo(page, target);
  await page.keyboard.press(key);
}
