// A database that is slow to read, so that what is built of it can be watched, however fast the machine is.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** Long enough to see in the app how far something is, and to cancel it. */
const HELD_S = 5;
const START_LIMIT_MS = 30_000;

/** Again and again, nobody reads events for a while. Whoever waits then has his turn before they are held again. */
const HOLD = `
SET application_name = 'slow reading';
DO $$ BEGIN LOOP
  LOCK TABLE events IN ACCESS EXCLUSIVE MODE;
  PERFORM pg_sleep(${HELD_S});
  COMMIT;
END LOOP; END $$;
`;
const END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'slow reading'";
const HELD = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'slow reading' AND wait_event = 'PgSleep'";

/** Does the work while events are read slowly: a few hundred conversations, then none for a while. */
export async function slowly(server, work) {
  const holding = await psql(server, HOLD);
  try {
    await untilHeld(server);
    return await work();
  } finally {
    await printed(await psql(server, END));
    await holding.ended;
  }
}

async function untilHeld(server) {
  const end = Date.now() + START_LIMIT_MS;
  while ((await printed(await psql(server, HELD))) === "0") {
    if (Date.now() > end) {
      throw new Error("nobody could hold the events");
    }
    await pause(50);
  }
}

/** Has the server's own PostgreSQL do something. */
async function psql({ data }, sql) {
  // pid, data directory, start time, port, socket directory
  const lines = (await readFile(path.join(data, "postgres", "data", "postmaster.pid"), "utf8")).split("\n");
  const where = ["-h", lines[4].trim(), "-p", lines[3].trim(), "-U", "groundstate", "-d", "groundstate"];
  const child = spawn("psql", ["-X", "-q", "-A", "-t", ...where], { stdio: "pipe" });
  const job = { child, output: "", said: "" };
  child.stdout.setEncoding("utf8").on("data", (text) => (job.output += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (job.said += text));
  job.ended = once(child, "close");
  child.stdin.on("error", () => {});
  child.stdin.end(sql);
  return job;
}

async function printed(job) {
  const [code] = await job.ended;
  if (code !== 0) {
    throw new Error(`psql ended with ${code}: ${job.said}`);
  }
  return job.output.trim();
}
