//! Texts become vectors, and documents are ranked.

use domain::seed::Seed;
use insta::assert_snapshot;
use serde_json::{Value, json};
use workflow::{Row, RowEvent};

use crate::support::{compiled, finish, input, problems};
use crate::{answers, begin, play};

#[test]
fn texts_become_vectors_and_documents_are_ranked() {
    let yaml = "
workflow: test
input: {question: text, texts: list<text>}
steps:
  own: {embed: {role: embedder, texts: question}}
  all: {embed: {role: embedder, texts: texts}}
  near: {code: '[dot(own, v) for v in all]'}
  docs: {code: '[{\"text\": t, \"id\": i} for i, t in enumerate(texts)]'}
  best: {rerank: {role: ranker, query: question, documents: docs, k: 2}}
output: {near: near, length: len(own), best: '[[b.document.id, b.index, b.score] for b in best]'}
stand_ins: {embedder: hashed_words, ranker: shared_words}
";
    let functions = "
def words(text): return [w.strip('.?!').lower() for w in text.split(' ')]

def bucket(word):
    total = 0
    for c in word[:8].elems(): total = (total * 31 + ord(c)) % 16
    return total

def hashed_words(request):
    vectors = []
    for text in request['texts']:
        buckets = [bucket(w) for w in words(text)]
        vectors.append([len([b for b in buckets if b == i]) for i in range(16)])
    return vectors

def shared_words(request):
    query = words(request['query'])
    shared = lambda text: len([w for w in words(text) if w in query])
    return [{'index': i, 'score': shared(d)} for i, d in enumerate(request['documents'])]

def dot(a, b): return sum([a[i] * b[i] for i in range(len(a))])
";
    let row = json!({"question": "Who makes honey?", "texts": ["Cows give milk.", "Bees make honey.", "honey, honey"]});
    assert_snapshot!(play(yaml, functions, &row), @r#"finished: {"near":[1,2,1],"length":16,"best":[[1,1,1],[2,2,1]]} after 5 events"#);
    assert_snapshot!(play(yaml, functions, &json!({"question": "a", "texts": []})), @r#"finished: {"near":[],"length":16,"best":[]} after 3 events"#);
    // 33 texts are two requests.
    let many = json!({"question": "a", "texts": vec!["b"; 33]});
    assert!(play(yaml, functions, &many).ends_with(r#""best":[[0,0,0],[1,1,0]]} after 6 events"#));
    for (question, texts, expected) in [
        ("a", vec!["b".to_owned(), " ".to_owned()], "failed_code: all: `texts[1]` is empty after 3 events"),
        ("a", vec!["b".to_owned(); 1_001], "too_many_items: all: `texts` has 1001 items; at most 1000 after 3 events"),
    ] {
        assert_eq!(play(yaml, functions, &json!({"question": question, "texts": texts})), expected);
    }
    let ranking = "
workflow: test
input: {texts: list<text>}
steps:
  best: {rerank: {role: m, query: '\"q\"', documents: texts}}
output: {best: best}
stand_ins: {m: shared_words}
";
    let large = json!({"texts": vec!["b".repeat(50_000); 100]});
    assert_snapshot!(play(ranking, functions, &large), @"too_large: best: the documents have more than 4194304 bytes after 2 events");
}

#[test]
fn numbers_that_cannot_be_used_end_the_row() {
    let yaml = "
workflow: test
input: {say: any}
steps:
  v: {embed: {role: m, texts: '[\"a\", \"b\"]'}}
output: {v: v}
stand_ins: {m: said}
";
    let ranked = "
workflow: test
input: {say: any}
steps:
  v: {rerank: {role: m, query: '\"q\"', documents: '[\"a\", \"b\"]', k: 2}}
output: {v: v}
stand_ins: {m: said}
";
    let functions = "def said(request): return request['values']['say']\n";
    let said = |yaml: &str, say: Value| play(yaml, functions, &json!({"say": say}));
    let all: Vec<String> = [
        (yaml, json!([[1, 0.5], [2, 3]])),
        (yaml, json!("no")),
        (yaml, json!([[1]])),
        (yaml, json!([[1], [null]])),
        (yaml, json!([[1], []])),
        (yaml, json!([[1], [1, 2]])),
        (ranked, json!([{"index": 1, "score": 0.2}, {"index": 0, "score": 0.1}])),
        (ranked, json!([{"index": 1, "score": 0.2}])),
        (ranked, json!([{"index": 1, "score": 0.2}, {"index": 2, "score": 0.1}])),
        (ranked, json!([{"index": 1, "score": 0.2}, {"index": 1, "score": 0.1}])),
        (ranked, json!([{"index": 1, "score": 0.2}, {"index": 0, "score": null}])),
        (ranked, json!([{"index": -1, "score": 0.2}, {"index": 0, "score": 1}])),
    ]
    .into_iter()
    .map(|(yaml, say)| said(yaml, say))
    .collect();
    assert_snapshot!(all.join("\n"), @r#"
    finished: {"v":[[1,0.5],[2,3]]} after 3 events
    invalid_reply: v: the reply cannot be used: it is no list of vectors: invalid type: string "no", expected a sequence at line 1 column 4 after 3 events
    invalid_reply: v: the reply cannot be used: it has 1 vectors for 2 texts after 3 events
    invalid_reply: v: the reply cannot be used: vector 1 holds something that is no finite number after 3 events
    invalid_reply: v: the reply cannot be used: vector 1 is empty after 3 events
    invalid_reply: v: the reply cannot be used: vectors of 1 and of 2 numbers after 3 events
    finished: {"v":[{"index":1,"score":0.2,"document":"b"},{"index":0,"score":0.1,"document":"a"}]} after 3 events
    invalid_reply: v: the reply cannot be used: it ranks 1 documents; 2 were asked for after 3 events
    invalid_reply: v: the reply cannot be used: it ranks document 2 of 2 after 3 events
    invalid_reply: v: the reply cannot be used: it ranks document 1 twice after 3 events
    invalid_reply: v: the reply cannot be used: the score of document 0 is no finite number after 3 events
    invalid_reply: v: the reply cannot be used: it is no list of {index, score}: invalid value: integer `-1`, expected usize at line 1 column 12 after 3 events
    "#);
    let otherwise = ranked.replace("k: 2", "k: 2, otherwise: []");
    assert_snapshot!(said(&otherwise, json!([])), @r#"finished: {"v":[]} after 3 events"#);
}

#[test]
fn what_embed_and_rerank_are_given_is_checked() {
    let broken = "
workflow: test
input: {a: text, n: integer, maybe: text?, docs: 'list<any>'}
steps:
  one: {embed: {role: m, texts: n}}
  two: {embed: {role: 'a b', texts: maybe}}
  three: {rerank: {role: m, query: n, documents: a}}
  four: {rerank: {role: m, query: a, documents: '[{\"title\": a}]'}}
  five: {rerank: {role: m, query: a, documents: docs}}
  six: {code: 'five[0].documnt'}
  seven: {embed: {role: m, texts: seven}}
output: {a: 'five[0].score + a'}
";
    assert_snapshot!(problems(broken, ""), @r"
    workflows/test/workflow.yaml:5: steps.one.embed.texts: is a number; a text or a list of texts is expected
    workflows/test/workflow.yaml:6: steps.two.embed.role: is no name of a role: expected lower-case letters, digits and `_`
    workflows/test/workflow.yaml:6: steps.two.embed.texts: is a text?; a text or a list of texts is expected
    workflows/test/workflow.yaml:7: steps.three.rerank.documents: is a text; a list of texts, or of records with a `text`, is expected
    workflows/test/workflow.yaml:7: steps.three.rerank.query: is a number; a text is expected
    workflows/test/workflow.yaml:8: steps.four.rerank.documents: is a list<{title: text}>; a list of texts, or of records with a `text`, is expected
    workflows/test/workflow.yaml:10: steps.six.code: there is no `documnt` in {index: number, score: number, document: any} (did you mean `document`?)
    workflows/test/workflow.yaml:11: steps.seven: these steps wait for each other: seven -> seven
    workflows/test/workflow.yaml:12: output.a: it adds a number and a text
    ");
}

/// A kept answer is not asked for again, and numbers are read back as they were kept.
#[test]
fn vectors_are_kept() {
    let yaml = "
workflow: test
input: {texts: list<text>}
steps: {v: {embed: {role: m, texts: texts}}}
output: {v: v}
stand_ins: {m: lengths}
";
    let functions = "def lengths(request): return [[len(t), 1.0 / len(t), 1e-7] for t in request['texts']]\n";
    let row = json!({"texts": vec!["abc"; 40]});
    let mut whole = begin(yaml, functions, &row);
    let events = finish(&mut whole, |n| n - 1);
    assert_eq!(events.len(), 4);
    let kept: Vec<RowEvent> = serde_json::from_str(&serde_json::to_string(&events[..2]).unwrap()).unwrap();
    let workflow = compiled(yaml, functions);
    let mut resumed = Row::resume(&workflow, &input(&row), Seed::new(1, "test", 0), &kept).unwrap();
    let left = answers(&resumed);
    assert_eq!(left.len(), 1, "one of two batches is kept");
    finish(&mut resumed, |_| 0);
    assert_eq!(resumed.output(), whole.output());
    assert_eq!(whole.output().unwrap()["v"][39], json!([3, 0.333_333_333_333_333_3, 1e-7]));
}
