//! Croissant 1.0: the bundle's files and columns for search engines and loaders (<http://mlcommons.org/croissant/1.0>).

use domain::export::ExportReport;
use serde_json::{Value, json};

use super::contents::{Order, extension};

pub fn document(order: &Order, report: &ExportReport) -> Value {
    let format = match extension(&order.shape) {
        "parquet" => "application/x-parquet",
        _ => "application/jsonlines",
    };
    let files: Vec<Value> = report
        .parts
        .iter()
        .map(|part| {
            json!({"@type": "cr:FileObject", "@id": part.path, "name": part.path, "contentUrl": part.path,
                "contentSize": format!("{} B", part.bytes), "encodingFormat": format, "sha256": part.hash})
        })
        .collect();
    let sets: Vec<Value> = report
        .parts
        .iter()
        .map(|part| {
            let split = part.split.into_str();
            let field = |name: &str, about: &str| {
                json!({"@type": "cr:Field", "@id": format!("{split}/{name}"), "name": name, "description": about,
                    "dataType": "sc:Text",
                    "source": {"fileObject": {"@id": part.path}, "extract": {"column": name}}})
            };
            json!({"@type": "cr:RecordSet", "@id": split, "name": split, "field": [
                field("messages", "The conversation, in the shapes of OpenAI function calling"),
                field("tools", "JSON text: descriptions of the tools that the agent may call"),
                field("metadata", "JSON text: scores, scenario, persona, models, provenance"),
            ]})
        })
        .collect();
    json!({
        "@context": context(), "@type": "sc:Dataset", "name": order.title, "description": order.chosen,
        "conformsTo": "http://mlcommons.org/croissant/1.0", "distribution": files, "recordSet": sets,
    })
}

/// As the specification has it.
fn context() -> Value {
    json!({
        "@language": "en", "@vocab": "https://schema.org/", "citeAs": "cr:citeAs", "column": "cr:column",
        "conformsTo": "dct:conformsTo", "cr": "http://mlcommons.org/croissant/",
        "data": {"@id": "cr:data", "@type": "@json"}, "dataBiases": "cr:dataBiases", "dataCollection": "cr:dataCollection",
        "dataType": {"@id": "cr:dataType", "@type": "@vocab"}, "dct": "http://purl.org/dc/terms/",
        "examples": {"@id": "cr:examples", "@type": "@json"}, "extract": "cr:extract", "field": "cr:field",
        "fileProperty": "cr:fileProperty", "fileObject": "cr:fileObject", "fileSet": "cr:fileSet", "format": "cr:format",
        "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath", "key": "cr:key",
        "md5": "cr:md5", "parentField": "cr:parentField", "path": "cr:path",
        "personalSensitiveInformation": "cr:personalSensitiveInformation", "recordSet": "cr:recordSet",
        "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated", "replace": "cr:replace",
        "sc": "https://schema.org/", "separator": "cr:separator", "source": "cr:source", "subField": "cr:subField",
        "transform": "cr:transform",
    })
}
