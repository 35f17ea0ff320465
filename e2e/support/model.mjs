// A model that somebody else serves: it says the same words to whatever it is asked.

import { once } from "node:events";
import { createServer } from "node:http";

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
  await once(server.listen(0, "127.0.0.1"), "listening");
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}/v1`, stop };
}
