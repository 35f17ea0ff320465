//! An index that is searched.

use std::path::Path;
use std::sync::Arc;

use domain::api::Hit;
use tantivy::collector::TopDocs;
use tantivy::collector::sort_key::{SortBySimilarityScore, SortByString};
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Value as _};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{DocAddress, Index, IndexReader, Order, ReloadPolicy, Score, Searcher, TantivyDocument, Term};

use super::schema::{ID, IndexFields, TOKENIZER};

/// Words of a query that count. Each is looked up.
const MOST_WORDS: usize = 256;

/// An open index. Clones are the same.
#[derive(Clone)]
pub struct OpenIndex(Arc<Shared>);

struct Shared {
    reader: IndexReader,
    fields: IndexFields,
    analyzer: TextAnalyzer,
}

impl OpenIndex {
    /// Opens an index in a folder, whose files do not change.
    ///
    /// # Errors
    /// They are damaged.
    pub fn in_folder(folder: &Path) -> anyhow::Result<Self> {
        let index = Index::open_in_dir(folder)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let analyzer = index.tokenizers().get(TOKENIZER);
        let analyzer = analyzer.ok_or_else(|| anyhow::anyhow!("there is no tokenizer `{TOKENIZER}`"))?;
        Ok(Self(Arc::new(Shared { reader, fields: IndexFields::new(), analyzer })))
    }

    /// The `k` documents that fit a query best, by BM25 over title and text; those that fit as well by their ids. Every word is
    /// a word: the query has no syntax. It computes, so callers with other things to do use a blocking thread.
    ///
    /// # Errors
    /// The files are damaged.
    pub fn search(&self, query: &str, k: usize) -> anyhow::Result<Vec<Hit>> {
        let searcher = self.0.reader.searcher();
        let words = self.words(query);
        if words.is_empty() || k == 0 {
            return Ok(Vec::new());
        }
        let by_id = (SortByString::for_field(ID), Order::Asc);
        let best = TopDocs::with_limit(k).order_by((SortBySimilarityScore, by_id));
        let found = searcher.search(&self.query(&words), &best)?;
        found.into_iter().map(|((score, _), at)| self.hit(&searcher, score, at)).collect()
    }

    /// The different words of a text, in their order.
    fn words(&self, text: &str) -> Vec<String> {
        let (mut words, mut analyzer) = (Vec::new(), self.0.analyzer.clone());
        let mut tokens = analyzer.token_stream(text);
        while tokens.advance() && words.len() < MOST_WORDS {
            let word = &tokens.token().text;
            if !words.contains(word) {
                words.push(word.clone());
            }
        }
        words
    }

    fn query(&self, words: &[String]) -> BooleanQuery {
        let fields = [self.0.fields.title, self.0.fields.text];
        let term = |field: Field, word: &String| -> (Occur, Box<dyn Query>) {
            let term = Term::from_field_text(field, word);
            (Occur::Should, Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)))
        };
        BooleanQuery::new(words.iter().flat_map(|word| fields.map(|field| term(field, word))).collect())
    }

    fn hit(&self, searcher: &Searcher, score: Score, at: DocAddress) -> anyhow::Result<Hit> {
        let document: TantivyDocument = searcher.doc(at)?;
        let text = |field: Field| {
            let value = document.get_first(field).and_then(|value| value.as_str());
            value.unwrap_or_default().to_owned()
        };
        let fields = &self.0.fields;
        let [id, title, text, url] = [fields.id, fields.title, fields.text, fields.url].map(text);
        Ok(Hit { id, title, text, url, score })
    }
}
