// Takes the picture of README.md: a conversation that changed its world, from the demo documents. `cargo xtask picture`
// runs it.

import { PROJECT, Site } from "./support/story.mjs";

const PICTURE = new URL("../docs/images/conversation.png", import.meta.url).pathname;

const site = new Site({ n: 1, demo: true, viewport: { width: 1400, height: 860 }, deviceScaleFactor: 1.5 });

/** A conversation of a scenario, by its id. */
async function played(playbook, scenario) {
  const order = { playbooks: [playbook], scenarios: [scenario], n: 1, seed: 5 };
  const run = await site.ask("POST", `${PROJECT}/runs`, order);
  await site.until(`/runs/${run.id}`, ({ state }) => state === "finished");
  const { items } = await site.ask("GET", `/runs/${run.id}/conversations`);
  return items[0].id;
}

try {
  await site.start();
  const id = await played("crm_assistant", "book_board_meeting_with_coffee");
  await site.visit(`${PROJECT}/conversations/${id}?panel=world`, async (page) => {
    await page.locator("#panel-world").waitFor();
    const change = page.locator(".turn", { has: page.locator(".world-changes, .changes") }).first();
    if (await change.count()) {
      await change.scrollIntoViewIfNeeded();
    }
    await page.screenshot({ path: PICTURE });
  });
} finally {
  await site.stop();
}
