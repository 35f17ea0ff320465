// Models that somebody else serves: one says the same words to whatever it is asked, another one streams what a test says.

import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

/**
 * Listens on a loopback port: `url` is the endpoint's base URL; `stop()` ends it. With another `status` it refuses all it is
 * asked.
 */
export async function startModel(words, { status = 200 } = {}) {
  const message = { role: "assistant", content: words };
  const usage = { prompt_tokens: 900, completion_tokens: 12 };
  const answer = { object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }], usage };
  const server = createServer((request, response) => {
    response.writeHead(status, { "content-type": "application/json" });
    request.resume().on("end", () => response.end(JSON.stringify(answer)));
  });
  return listening(server);
}

/** The same, with what `say` yields for the last message of a request as the parts of the reply. */
export async function startStream(say) {
  const usage = { prompt_tokens: 900, completion_tokens: 12 };
  const server = createServer(async (request, response) => {
    const { messages } = JSON.parse(await text(request));
    const tell = (choice, rest) => response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }], ...rest })}\n\n`);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for await (const content of say(messages.at(-1).content)) tell({ delta: { content }, finish_reason: null });
    tell({ delta: {}, finish_reason: "stop" }, { usage });
    response.end("data: [DONE]\n\n");
  });
  return listening(server);
}

async function listening(server) {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}/v1`, stop };
}

/** Holds replies until a test lets them go on. */
export class Held {
  #waiting = [];
  #told = () => {};

  /** Returns when it is let go. */
  wait() {
    return new Promise((go) => {
      this.#waiting.push(go);
      this.#told();
    });
  }

  /** Returns when so many wait. */
  async reached(n) {
    while (this.#waiting.length < n) await new Promise((told) => (this.#told = told));
  }

  /** Lets those go that have waited longest. */
  release(n = 1) {
    this.#waiting.splice(0, n).forEach((go) => go());
  }
}
