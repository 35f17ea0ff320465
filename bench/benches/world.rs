//! What a call by code costs on a world of 1.5 MB, and what versions of that world cost.

#![expect(clippy::expect_used, reason = "a benchmark whose ground is missing can only stop")]

use std::hint::black_box;

use bench::{resident, retail};
use criterion::{Criterion, criterion_group, criterion_main};
use domain::patch::{Patch, PatchOp};
use engine::playbook::Playbook;
use engine::tools::code::{CallContext, Code};
use engine::{InitialWorld, World};
use serde_json::{Map, Value, json};

/// Calls a tool as a conversation does: arguments, code, checks, commit. The world afterwards and what changed.
fn call(playbook: &Playbook, world: &World, tool: &str, arguments: &Map<String, Value>) -> (World, Patch) {
    let tool = playbook.tool(tool).expect("a tool");
    assert!(tool.argument_faults(&Value::Object(arguments.clone())).is_empty());
    let moment = CallContext { now: "2024-05-15T15:00:00Z", id_seed: "bench" };
    let (_, patch) = playbook.run_code(tool, arguments, world, &moment).expect("an answer");
    (playbook.commit(tool, arguments, world, &patch, moment.now).expect("it is committed"), patch)
}

/// The calls to measure: one that reads a record, and one that writes in it.
fn calls(initial: &InitialWorld) -> [(&'static str, Map<String, Value>); 2] {
    let world = initial.world.to_json();
    let orders = world["orders"].as_object().expect("orders");
    let (order, _) = orders.iter().find(|(_, order)| order["status"] == "pending").expect("a pending order");
    let read = json!({"order_id": order});
    let write = json!({
        "order_id": order, "address1": "1 Long Street", "address2": "", "city": "Port", "state": "CA",
        "country": "USA", "zip": "90001",
    });
    let map = |value: Value| value.as_object().cloned().unwrap_or_default();
    [("get_order_details", map(read)), ("modify_pending_order_address", map(write))]
}

fn world(criterion: &mut Criterion) {
    let Some((playbook, initial)) = retail() else {
        println!("the recordings are not here; nothing is measured");
        return;
    };
    for (tool, arguments) in calls(&initial) {
        criterion.bench_function(tool, |bencher| {
            bencher.iter(|| call(&playbook, black_box(&initial.world), tool, &arguments));
        });
    }
    scan(criterion);
    let versions: Vec<Patch> = (0..1000).map(|i| vec![touch(&initial, i)]).collect();
    criterion.bench_function("replay of 1000 versions", |bencher| {
        bencher.iter(|| {
            versions.iter().fold(initial.world.clone(), |world, patch| world.apply(patch).expect("it applies"))
        });
    });
    criterion.bench_function("hash of the whole world", |bencher| bencher.iter(|| initial.world.hash()));
    memory(&playbook, &initial);
}

/// A search of 300 records with collections within them, as a tool makes it that looks for free rooms.
fn scan(criterion: &mut Criterion) {
    let room = |i: usize| json!({"kind": "double", "rate": 80 + i, "taken": {"2026-03-02": i, "2026-03-03": 2, "2026-03-04": 0}});
    let hotel = |i: usize| {
        let rooms: Map<String, Value> = (0..20).map(|r| (format!("r{r:02}"), room(r))).collect();
        json!({"city": if i.is_multiple_of(3) { "Bern" } else { "Basel" }, "stars": i % 5, "rooms": rooms})
    };
    let hotels: Map<String, Value> = (0..300).map(|i| (format!("h{i:03}"), hotel(i))).collect();
    let world = World::new(&json!({"hotels": hotels}));
    let source = "def search(world, ctx, city):\n    return [id for id, hotel in world[\"hotels\"].items() if hotel[\"city\"] == city and hotel[\"stars\"] > 3]\n";
    let code = Code::compile("tools.star", source.to_owned(), &[]).expect("it compiles");
    let arguments = json!({"city": "Bern"}).as_object().cloned().unwrap_or_default();
    let moment = CallContext { now: "2026-03-02T09:00:00Z", id_seed: "bench" };
    criterion.bench_function("scan of 300 nested records", |bencher| {
        bencher.iter(|| code.call("search", None, black_box(&world), &arguments, &moment).expect("an answer"));
    });
}

/// A change of one field of the i-th order.
fn touch(initial: &InitialWorld, i: usize) -> PatchOp {
    let Some(engine::world::Node::Map(orders)) = initial.world.get("/orders") else { panic!("no orders") };
    let order = orders.keys().nth(i % orders.size()).expect("an order");
    PatchOp::Add { path: format!("{}/status", domain::patch::join("/orders", order)), value: json!(format!("s{i}")) }
}

/// Resident memory of 10,000 conversations over one base world, each with its last version after five writes.
fn memory(playbook: &Playbook, initial: &InitialWorld) {
    const CONVERSATIONS: usize = 10_000;
    let [_, (tool, write)] = calls(initial);
    let before = resident();
    let worlds: Vec<World> = (0..CONVERSATIONS)
        .map(|i| {
            let (world, _) = call(playbook, &initial.world, tool, &write);
            (0..4).fold(world, |world, k| world.apply(&[touch(initial, i + k)]).expect("it applies"))
        })
        .collect();
    let each = (resident() - before) / CONVERSATIONS as u64;
    println!("memory of a conversation beyond the base world: {each} bytes ({} worlds)", worlds.len());
}

criterion_group!(benches, world);
criterion_main!(benches);
