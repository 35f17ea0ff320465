//! The parameters of lists in the OpenAPI document.

use domain::filter::{Comparison, Dimension, Notation, PARAMETERS, Parameter};
use utoipa::openapi::path::{self, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ArrayBuilder, KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Required};
use utoipa::{IntoParams, PartialSchema};

use super::{ListQuery, SearchParams};

impl<T: IntoParams> IntoParams for ListQuery<T> {
    fn into_params(parameter_in: impl Fn() -> Option<ParameterIn>) -> Vec<path::Parameter> {
        let filter =
            PARAMETERS.iter().map(|parameter| query(parameter.name, description(parameter), schema(parameter)));
        filter.chain(SearchParams::into_params(&parameter_in)).chain(T::into_params(&parameter_in)).collect()
    }
}

fn query(name: &str, description: String, schema: RefOr<Schema>) -> path::Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .description(Some(description))
        .required(Required::False)
        .schema(Some(schema))
        .build()
}

fn description(parameter: &Parameter) -> String {
    let written = parameter.placeholder(Notation::Query);
    let values = parameter.dimension.and_then(Dimension::values);
    match &parameter.comparison {
        Comparison::MinScores(_) | Comparison::MaxScores(_) | Comparison::Best(_) => {
            format!("{} Written as `{written}`.", parameter.help)
        }
        Comparison::AnyOf(_) => match values {
            Some(values) => format!("{} One of `{}`.", parameter.help, values.join("`, `")),
            None => parameter.help.to_owned(),
        },
        _ => parameter.help.to_owned(),
    }
}

fn schema(parameter: &Parameter) -> RefOr<Schema> {
    match &parameter.comparison {
        Comparison::AnyOf(_)
        | Comparison::AllOf(_)
        | Comparison::MinScores(_)
        | Comparison::MaxScores(_)
        | Comparison::Best(_) => Vec::<String>::schema(),
        Comparison::Words(_) => {
            let words = parameter.dimension.and_then(Dimension::words);
            let word = ObjectBuilder::new().schema_type(Type::String).enum_values(words);
            ArrayBuilder::new().items(word).into()
        }
        Comparison::Contains(_) | Comparison::Judging(_) => String::schema(),
        Comparison::Is(_) => bool::schema(),
        Comparison::MinScore(_) | Comparison::MaxScore(_) => number(Type::Integer, KnownFormat::Int32, 10),
        Comparison::Min(_) | Comparison::Max(_) => u32::schema(),
        Comparison::MinShare(_) | Comparison::MaxShare(_) => number(Type::Number, KnownFormat::Double, 1),
        Comparison::From(_) | Comparison::Before(_) => time(),
    }
}

fn time() -> RefOr<Schema> {
    let format = Some(SchemaFormat::KnownFormat(KnownFormat::DateTime));
    ObjectBuilder::new().schema_type(Type::String).format(format).into()
}

fn number(of: Type, format: KnownFormat, most: usize) -> RefOr<Schema> {
    let format = Some(SchemaFormat::KnownFormat(format));
    ObjectBuilder::new().schema_type(of).format(format).minimum(Some(0_usize)).maximum(Some(most)).into()
}
