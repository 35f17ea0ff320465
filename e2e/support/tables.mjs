// What stands in tables and charts.

/** The cells of a table, row by row. */
export const cells = (region) =>
  region.locator("tbody tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));

/** The figures of a chart, unfolded. */
export async function figuresOf(within, title) {
  const page = typeof within.page === "function" ? within.page() : within;
  const figure = within.locator("figure", { has: page.getByRole("heading", { name: title, exact: true }) });
  const details = figure.locator("details", { has: page.locator("table.figures") });
  if ((await details.getAttribute("open")) === null) await details.locator("summary").click();
  return cells(details);
}

/** The terms of a list and what they say. */
export const pairs = (list) =>
  list.locator("div:has(> dt)").evaluateAll((all) =>
    Object.fromEntries(all.map((pair) => [pair.querySelector("dt").textContent, pair.querySelector("dd").textContent])),
  );
