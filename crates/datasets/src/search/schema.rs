//! The fields of an index.

use tantivy::schema::{FAST, Field, STORED, STRING, Schema, TEXT};

/// How the words of an index are told from each other: what separates them is cut off, case is ignored, and what is longer than
/// 40 bytes is no word. The same for documents and for what is searched.
pub const TOKENIZER: &str = "default";

pub struct IndexFields {
    pub schema: Schema,
    pub id: Field,
    pub title: Field,
    pub text: Field,
    pub url: Field,
}

/// The name by which documents of the same score are sorted.
pub const ID: &str = "id";

impl IndexFields {
    pub fn new() -> Self {
        let mut schema = Schema::builder();
        let id = schema.add_text_field(ID, STRING | FAST | STORED);
        let title = schema.add_text_field("title", TEXT | STORED);
        let text = schema.add_text_field("text", TEXT | STORED);
        let url = schema.add_text_field("url", STORED);
        Self { schema: schema.build(), id, title, text, url }
    }
}
