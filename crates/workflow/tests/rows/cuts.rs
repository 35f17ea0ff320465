//! Replies of the shipped workflows that break off: whatever was heard of one, it is asked for again, and the row is the same.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use domain::chat::ChatReply;
use domain::seed::Seed;
use domain::task::{Attention, Heard, Next, Request, RequestBody, Resolution, Task};
use serde_json::json;
use workflow::{Ending, Files, Responder, Row, Surroundings, Workflow, compile_all};

use crate::support::drive;

/// Workflow -> the sample that is played; of `tree_of_thought` one with few requests. `tau2` needs the project's scenarios, and
/// nothing is heard of a reply in a conversation before it is whole.
const SAMPLES: [(&str, usize); 6] = [
    ("coral", 0),
    ("factool", 0),
    ("natural_reasoning", 0),
    ("storm_outline", 0),
    ("tree_of_thought", 2),
    ("wikichat", 0),
];
/// Those whose replies are streams of items.
const STREAMING: [&str; 4] = ["factool", "storm_outline", "tree_of_thought", "wikichat"];
/// A reply is cut in each of its places. One that has more than so many is cut in so many of them, at equal distances.
const MOST_CUTS: usize = 150;

fn shipped() -> BTreeMap<String, Arc<Workflow>> {
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let within = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let folders = within(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows")).into_iter().map(|folder| {
        let files = within(&folder).into_iter().map(|file| (name(&file), fs::read_to_string(&file).unwrap()));
        (name(&folder), files.collect::<Files>())
    });
    compile_all("workflows", &folders.collect(), Surroundings::NONE.cases).0
}

fn said(row: &Row, request: &Request<Responder>) -> RequestBody {
    if let Some(chat) = row.prompt(request) {
        return RequestBody::Chat(chat);
    }
    let encoded = row.encoder_request(request).map(|encoded| json!(format!("{encoded:?}")));
    RequestBody::Message(encoded.or_else(|| row.message(request)).unwrap())
}

/// A row whose replies all came to their end at once.
struct Uncut {
    /// The request and its reply.
    asked: HashMap<u64, (RequestBody, Resolution)>,
    ending: Ending,
}

impl Uncut {
    fn of(mut row: Row) -> Self {
        let mut asked = HashMap::new();
        let answer = |row: &Row, request: &Request<Responder>| {
            let answer = match &request.to {
                Responder::Index(_) => Resolution::Message(row.workflow.find(&row.message(request).unwrap())),
                Responder::Model(_) | Responder::Tool(_) | Responder::Service(_) => row.stand_in(request),
            };
            asked.insert(request.id.0, (said(row, request), answer.clone()));
            answer
        };
        drive(&mut row, |_| 0, answer);
        let ending = row.ending().unwrap().clone();
        Self { asked, ending }
    }

    /// The answer to a request, which says the same here.
    fn answer(&self, request: &Request<Responder>, body: &RequestBody) -> &Resolution {
        let known = self.asked.get(&request.id.0);
        let (own, answer) = known.unwrap_or_else(|| panic!("asked because of a cut: {request:?}: {body:?}"));
        assert_eq!(body, own, "{request:?}");
        answer
    }

    /// Hears the beginning of a reply, and the answers to all requests that are made early. How many these are.
    fn hear(&self, row: &mut Row, request: &Request<Responder>, beginning: &str) -> usize {
        let (mut early, mut new) = (0, row.prefetch_after(request, Heard::Text(beginning)));
        while let Some((ahead, body)) = new.pop() {
            early += 1;
            new.extend(match self.answer(&ahead, &body) {
                Resolution::Reply(reply) => row.prefetch_after(&ahead, Heard::Whole(reply)),
                Resolution::Message(message) => row.prefetch_after(&ahead, Heard::Message(message)),
                Resolution::Unusable { .. } | Resolution::Lost { .. } => Vec::new(),
            });
        }
        early
    }

    /// Cuts the reply to a request in every place, each time in a row that has heard nothing of it. In how many places, and most
    /// requests that were made early.
    fn cut(&self, before: &Row, request: &Request<Responder>, reply: &ChatReply, after: &Row) -> (usize, usize) {
        let text = &reply.content;
        let places: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
        let (mut cuts, mut most, mut played) = (0, 0, None);
        for at in places.iter().step_by(places.len().div_ceil(MOST_CUTS)) {
            let mut row = before.clone();
            let early = self.hear(&mut row, request, &text[..*at]);
            // It is asked for again, and comes to its end.
            if played != Some(early) {
                self.hear(&mut row, request, text);
            }
            row.resolve(request, Resolution::Reply(reply.clone()));
            assert_eq!(row.next(), after.next(), "{request:?}, cut at {at}");
            // Two cuts after which the same was made early differ in nothing: of those, the first is played to the end.
            if played != Some(early) {
                drive(&mut row, |_| 0, |row, request| self.answer(request, &said(row, request)).clone());
                assert_eq!(row.ending(), Some(&self.ending), "{request:?}, cut at {at}");
                played = Some(early);
            }
            (cuts, most) = (cuts + 1, most.max(early));
        }
        (cuts, most)
    }
}

#[test]
fn a_reply_may_break_off_in_every_place() {
    let workflows = shipped();
    assert_eq!(workflows.keys().map(String::as_str).collect::<Vec<_>>(), SAMPLES.map(|(name, _)| name));
    for (name, sample) in SAMPLES {
        let workflow = &workflows[name];
        let mut row = Row::begin(workflow, &workflow.spec.samples[sample].input, Seed::new(1, name, 0)).unwrap();
        let uncut = Uncut::of(row.clone());
        let (mut cuts, mut early) = (0, 0);
        loop {
            match row.next() {
                Next::Done => break,
                Next::Act => drop(row.act()),
                Next::Wait(requests) => {
                    let (request, before) = (&requests[0], row.clone());
                    let answer = uncut.answer(request, &said(&row, request)).clone();
                    row.resolve(request, answer.clone());
                    if let Resolution::Reply(reply) = &answer
                        && before.listens_to(request) != Attention::None
                    {
                        let (more, most) = uncut.cut(&before, request, reply, &row);
                        (cuts, early) = (cuts + more, early + most);
                    }
                }
            }
        }
        assert_eq!(row.ending(), Some(&uncut.ending), "{name}");
        assert!(cuts > 100, "{name}: {cuts} cuts");
        assert_eq!(early > 0, STREAMING.contains(&name), "{name}: {early} requests were made early");
    }
}
