// The built web app's files without the program: each as the server gives it, and an empty page to try them in.

import { readFile, readdir } from "node:fs/promises";
import http from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";

const HEADERS = fileURLToPath(new URL("../../server/src/http/headers.rs", import.meta.url));
const TYPES = { ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".html": "text/html" };

/** Gives `{ url, named, stop }`; `named(stem)` is the address of the one file with that stem and a hash. */
export async function serveAssets() {
  const dist = process.env.WEB_DIST;
  if (!dist) {
    throw new Error("WEB_DIST must name the directory with the built web app");
  }
  const files = await readdir(dist);
  const named = (stem, extension) => {
    const found = files.filter((file) => new RegExp(`^${stem}-[0-9a-f]{16}\\.${extension}$`).test(file));
    if (found.length !== 1) {
      throw new Error(`${dist} holds ${found.length} files ${stem}-HASH.${extension}`);
    }
    return `/${found[0]}`;
  };
  const page = `<!doctype html><html lang="en"><head><title>Assets</title>
    <link rel="icon" href="data:,"><link rel="stylesheet" href="${named("style", "css")}"></head>
    <body><main class="page">
      <button id="before">Before</button><div id="place"></div><button id="after">After</button>
    </main></body></html>`;
  const policy = await contentSecurityPolicy();
  const server = http.createServer(async (request, response) => {
    const file = path.basename(request.url);
    const type = TYPES[path.extname(file)] ?? "text/html";
    const known = request.url === "/" || files.includes(file);
    const body = request.url === "/" ? page : known && (await readFile(path.join(dist, file)));
    response.writeHead(known ? 200 : 404, {
      "Content-Type": `${type}; charset=utf-8`,
      "Content-Security-Policy": policy,
    });
    response.end(body || "");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => new Promise((resolve) => server.close(resolve).closeAllConnections());
  return { url: `http://127.0.0.1:${server.address().port}/`, named, stop };
}

/** The server's own, from where it is written: what passes here passes there. */
async function contentSecurityPolicy() {
  const source = await readFile(HEADERS, "utf8");
  const [, before, after] = /"(default-src[^"]*)",\s*\$styles,\s*"((?:[^"\\]|\\\s)*)"/.exec(source) ?? [];
  const [, styles] = /const POLICY: &str = policy!\("([^"]*)"\)/.exec(source) ?? [];
  if (!before || !after || !styles) {
    throw new Error("the content security policy is no longer where it was in headers.rs");
  }
  return `${before}${styles}${after.replace(/\\\n\s*/g, "")}`;
}
