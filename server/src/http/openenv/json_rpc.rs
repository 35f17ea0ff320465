//! Messages of the Model Context Protocol that `OpenEnv` carries: the tools of an episode are listed and called by them.

use serde_json::{Map, Value, json};

/// The code and the message of an error.
pub type Failure = (i32, String);

const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
pub const INTERNAL_ERROR: i32 = -32603;

pub enum Method {
    ListTools,
    /// As the action of a step.
    CallTool(Map<String, Value>),
}

/// # Errors
/// It is no request that is known here.
pub fn read(request: &Value) -> Result<Method, Failure> {
    let method = request["method"].as_str().filter(|_| request["jsonrpc"] == "2.0");
    let method = method.ok_or_else(|| {
        (INVALID_REQUEST, "Invalid request: `jsonrpc` must be \"2.0\", and `method` a text".to_owned())
    })?;
    let params = &request["params"];
    if !params.is_null() && !params.is_object() {
        return Err((INVALID_PARAMS, "Params must be an object".to_owned()));
    }
    match method {
        "tools/list" => Ok(Method::ListTools),
        "tools/call" => match params["name"].as_str().filter(|name| !name.is_empty()) {
            Some(name) => {
                let action = [("tool_name", json!(name)), ("arguments", params["arguments"].clone())];
                Ok(Method::CallTool(action.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()))
            }
            None => Err((INVALID_PARAMS, "Missing 'name' in params".to_owned())),
        },
        other => Err((METHOD_NOT_FOUND, format!("Method not found: {other}"))),
    }
}

/// The answer to a request.
pub fn answer(request: &Value, result: Result<Value, Failure>) -> Value {
    let id = &request["id"];
    match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err((code, message)) => json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}),
    }
}

/// Tools as the protocol names their parts.
pub fn tools(tools: &[Value]) -> Value {
    let tool = |tool: &Value| {
        let (name, description, schema) = (&tool["name"], &tool["description"], &tool["input_schema"]);
        json!({"name": name, "description": description, "inputSchema": schema})
    };
    json!({"tools": tools.iter().map(tool).collect::<Vec<_>>()})
}

/// The result of a call that was a step: as the protocol has it, and with what `OpenEnv` tells of a step.
pub fn called(step: &Value) -> Value {
    let data = &step["data"];
    let observed = &data["observation"];
    let text = observed["result"].as_str().or(observed["text"].as_str()).unwrap_or_default();
    json!({
        "content": [{"type": "text", "text": text}], "isError": false, "tool_name": observed["tool_name"],
        "result": observed["result"], "error": null, "reward": data["reward"], "done": data["done"],
        "metadata": data["metadata"],
    })
}
