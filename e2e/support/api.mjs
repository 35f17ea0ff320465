// The REST API as a page of the app calls it: with the session of whoever is signed in there.

/** What the server answers, read; an error if it refuses. */
export function call(page, method, path, body) {
  return page.evaluate(
    async ({ method, path, body }) => {
      const session = await (await fetch("/api/v1/session")).json();
      const headers = { Accept: "application/json", "X-CSRF-Token": session.csrf_token };
      if (body !== undefined) {
        headers["Content-Type"] = "application/json";
      }
      const answer = await fetch(`/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
      const text = await answer.text();
      if (!answer.ok) {
        throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      }
      return text === "" ? null : JSON.parse(text);
    },
    { method, path, body },
  );
}

/** Asks until what is answered is as it should be. */
export async function until(page, path, isThere, limit = 60_000) {
  const end = Date.now() + limit;
  for (;;) {
    const found = await call(page, "GET", path);
    if (isThere(found)) {
      return found;
    }
    if (Date.now() > end) {
      throw new Error(`${path} is still ${JSON.stringify(found).slice(0, 500)}`);
    }
    await page.waitForTimeout(200);
  }
}
