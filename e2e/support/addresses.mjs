// Every page of the app, by an address of it.

import { PROJECT } from "./story.mjs";

/** One address of each page, of a project that has something of everything: name -> address. */
export async function addresses(site) {
  const runs = await site.ask("GET", `${PROJECT}/runs`);
  const run = runs.items[0].id;
  const conversations = await site.ask("GET", `/runs/${run}/conversations`);
  const another = await site.ask("POST", `${PROJECT}/runs`, { playbooks: ["retail_bank"], n: 4, seed: 9 });
  await site.until(`/runs/${another.id}`, (found) => found.state === "finished");
  const rows = await site.ask("POST", `${PROJECT}/workflows/coral/runs`, {});
  await site.until(`/runs/${rows.id}`, (found) => found.state === "finished");
  const [conversation, rated] = conversations.items.map(({ id }) => id);
  const corpus = await site.ask("POST", `${PROJECT}/corpora`, { name: "all" });
  await site.until(`/corpora/${corpus.id}`, (found) => found.summary.state === "ready");
  // Not a blind one: whoever has opened it to rate would be shown no corpus and no export of its run.
  const instructions = "Read it to its end before you rate it.";
  const rate = { name: "first", instructions, conversations: [conversation], blind: false };
  const queue = await site.ask("POST", `${PROJECT}/review-queues`, rate);
  await site.ask("POST", `${PROJECT}/validations`, { similar_goal: 0.3 });
  await site.ask("PUT", `/conversations/${rated}/ratings`, { scores: { overall: 6 }, goal_achieved: true });
  const [calibration] = await site.ask("POST", `${PROJECT}/calibrations`, { run });
  const deleted = `${PROJECT}/scenarios/claim_wrong_date`;
  await site.ask("DELETE", deleted, { base_version: (await site.ask("GET", deleted)).saved.version });
  await site.ask("PUT", "/models/house", { replicas: ["http://127.0.0.1:9/v1"] });
  await site.ask("POST", "/tokens", { name: "nightly", scopes: ["run"] });
  await site.ask("POST", "/join-tokens", { name: "rack 7" });
  await site.server.run("users", "create", "ada", "--url", site.url);
  await site.ask("PUT", `${PROJECT}/members/ada`, { role: "viewer" });
  const spec = { source: { run: { id: run } }, profile: "canonical" };
  const exported = await site.ask("POST", `${PROJECT}/exports`, spec);
  await site.until(`/exports/${exported.id}`, (found) => found.state === "ready");
  const datasets = `${PROJECT}/datasets`;
  const dataset = await site.ask("POST", datasets, { name: "played", source: { run: { id: run } } });
  await site.until(`/datasets/${dataset.id}`, (found) => found.state === "ready");
  const [{ name: text }] = await site.ask("GET", `/datasets/${dataset.id}/columns`);
  const over = { name: "played", dataset: dataset.id, columns: { text } };
  const index = await site.ask("POST", `${PROJECT}/indexes`, over);
  await site.until(`/indexes/${index.id}`, (found) => found.state === "ready");
  await site.ask("POST", `${datasets}/uploads`, { file_name: "questions.jsonl.gz", bytes: 1_000 });
  await site.ask("PUT", `${PROJECT}/environments/bank`, { playbooks: ["retail_bank"], groups: 8 });
  const [episode] = await site.ask("POST", `${PROJECT}/episodes`, { name: "bank" });
  await site.ask("POST", `/episodes/${episode.id}/verify`, {});
  const below = {
    overview: "",
    scenarios: "/scenarios",
    scenario: "/scenarios/help_card_abroad",
    "scenario-versions": "/scenarios/help_card_abroad?tab=versions",
    "scenario-used-by": "/scenarios/help_card_abroad?tab=used-by",
    "scenario-play": "/scenarios/help_card_abroad?side=play",
    "scenario-similar": "/scenarios/help_card_abroad?side=similar",
    "scenario-deleted": "/scenarios/claim_wrong_date",
    validation: "/validation",
    playbooks: "/playbooks",
    playbook: "/playbooks/retail_bank",
    "playbook-tools": "/playbooks/retail_bank?tab=tools",
    "playbook-try": "/playbooks/retail_bank?tab=try",
    "playbook-prompts": "/playbooks/retail_bank?tab=prompts",
    "playbook-versions": "/playbooks/retail_bank?tab=versions",
    "playbook-used-by": "/playbooks/retail_bank?tab=used-by",
    personas: "/personas",
    persona: "/personas/busy_professional",
    "persona-compare": "/personas/busy_professional?tab=compare&with=newcomer",
    "persona-source": "/personas/busy_professional?tab=source",
    "persona-model": "/personas/model",
    "persona-versions": "/personas/busy_professional?tab=versions",
    "persona-used-by": "/personas/busy_professional?tab=used-by",
    judges: "/judges",
    judge: "/judges/default",
    "judge-versions": "/judges/default?tab=versions",
    "judge-used-by": "/judges/default?tab=used-by",
    workflows: "/workflows",
    workflow: "/workflows/coral",
    "workflow-runs": "/workflows/coral?tab=runs",
    "workflow-versions": "/workflows/coral?tab=versions",
    "workflow-run": `/runs/${rows.id}`,
    "workflow-rows": `/runs/${rows.id}?tab=rows`,
    "workflow-row": `/runs/${rows.id}/rows/0`,
    runs: "/runs",
    launch: "/runs/new",
    "launch-filled":
      "/runs/new?every_scenario=false&scenario=help_card_abroad&model_agent=house&fault=timeout%3Acalls%3A1%3A",
    run: `/runs/${run}`,
    "run-conversations": `/runs/${run}?tab=conversations`,
    "run-groups": `/runs/${run}?tab=groups`,
    "run-judgings": `/runs/${run}?tab=judgings`,
    "run-configuration": `/runs/${run}?tab=configuration`,
    "run-analytics": `/runs/${run}/analytics`,
    "run-comparison": `/runs/${run}/analytics?with=${another.id}`,
    conversations: "/conversations",
    "conversations-filtered": "/conversations?outcome=accepted&sort=overall&order=desc",
    conversation: `/conversations/${conversation}`,
    "conversation-world": `/conversations/${conversation}?panel=world`,
    "conversation-people": `/conversations/${rated}?panel=people`,
    compare: `/compare/${conversation}/${rated}`,
    "conversation-raw": `/conversations/${conversation}?panel=raw`,
    reviews: "/reviews",
    "reviews-disagreements": "/reviews?part=disagreements",
    "reviews-calibrations": "/reviews?part=calibrations",
    "queue-new": "/reviews/new",
    "queue-new-filter": "/reviews/new?outcome=accepted",
    queue: `/reviews/${queue.id}`,
    "queue-agreement": `/reviews/${queue.id}?part=agreement`,
    rate: `/reviews/${queue.id}/rate`,
    calibration: `/calibrations/${calibration.id}`,
    corpora: "/corpora",
    "corpus-new": "/corpora/new",
    corpus: `/corpora/${corpus.id}`,
    "corpus-conversations": `/corpora/${corpus.id}?tab=conversations`,
    "corpus-manifest": `/corpora/${corpus.id}?tab=manifest`,
    "corpus-analytics": `/corpora/${corpus.id}?tab=analytics`,
    exports: "/exports",
    "export-new": `/exports/new?run=${run}`,
    "export-pairs": `/exports/new?run=${run}&profile=trl_dpo`,
    export: `/exports/${exported.id}`,
    datasets: "/datasets",
    "dataset-new": "/datasets/new",
    "dataset-of-run": `/datasets/new?tab=played&run=${run}`,
    dataset: `/datasets/${dataset.id}`,
    "dataset-rows": `/datasets/${dataset.id}?tab=rows`,
    "dataset-index": `/datasets/${dataset.id}?tab=index`,
    indexes: "/indexes",
    index: `/indexes/${index.id}`,
    members: "/members",
    storage: "/storage",
    "project-audit": "/audit",
    environments: "/environments",
    "environment-new": "/new-environment",
    environment: "/environments/bank",
    "environment-edit": "/environments/bank/edit",
  };
  const all = Object.entries(below).map(([name, path]) => [name, `${PROJECT}${path}`]);
  const installation = ["projects", "models", "workers", "tokens", "people", "audit"].map((name) => [name, `/${name}`]);
  return new Map([...all, ...installation, ["no-member", "/projects/none/runs"]]);
}
