use serde_json::json;

use super::*;
use crate::testing;

fn brief(playbook: &Playbook) -> Brief<'_> {
    Brief {
        playbook,
        code: "def refund(world, ctx, order_id):\n    return {}\n",
        personas: vec!["newcomer"],
        intent: "refund",
        words: "people who lost their receipt",
        examples: vec!["id: first\n"],
        known: vec!["A refund within the window."],
    }
}

#[test]
fn the_business_and_the_form() {
    let playbook = testing::playbook();
    let asked = question(&brief(&playbook));
    let (head, rest) = asked[0].content().split_once("# How a scenario is written\n\n```yaml\n").unwrap();
    let (format, _) = rest.split_once("```\n").unwrap();
    assert!(format.contains("Facts that the user knows and that the backend confirms."), "{format}");
    insta::assert_snapshot!(head, @r#"
    You write test cases for an agent that serves people by calling tools. A test case is called a scenario. It says what a person knows and wants, which records the backend holds, what must be true at the end, and one conversation that gets there.

    A program checks what you write and plays your conversation against the real backend. A scenario is kept only if the program finds nothing wrong with it.

    # The business

    A shop: Sells things.

    It is 2026-03-02T09:00:00Z in every conversation, unless the scenario says otherwise with `clock`.

    ## Policy the agent must follow

    Be kind.

    ## Intents

    refund, help

    ## Tools of the agent

    `get_order`: Reads an order.
    Parameters: {"type":"object","properties":{"order_id":{"type":"string"}},"required":["order_id"],"additionalProperties":false}

    `refund`: Refunds money.
    Parameters: {"type":"object","properties":{"order_id":{"type":"string"},"amount":{"type":"number"}},"required":["order_id","amount"]}

    `meddle`: Writes where it may not.
    Parameters: {"type":"object","properties":{}}

    `find_article`: Searches help.
    Parameters: {"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}

    `open_ticket`: Opens a ticket.
    Parameters: {"type":"object","properties":{"about":{"type":"string"}},"required":["about"]}

    `hours`: Opening hours.
    Parameters: {"type":"object","properties":{}}

    `hand_over` (ends the conversation): Hands over to a human.
    Parameters: {"type":"object","properties":{"why":{"type":"string"}}}

    ## Records

    The shape of all records, as a JSON Schema:

    ```yaml
    type: object
    additionalProperties: false
    required:
      - orders
      - articles
      - tickets
    properties:
      orders:
        type: object
        additionalProperties:
          type: object
          additionalProperties: false
          required:
            - total
            - refunded
          properties:
            total:
              type: number
            refunded:
              type: number
              minimum: 0
      articles:
        type: object
      tickets:
        type: object
        additionalProperties:
          type: object
          additionalProperties: false
          required:
            - about
            - status
          properties:
            about:
              type: string
            status:
              enum:
                - open
                - closed
    ```

    Records that every scenario has already; yours are laid over them, record by record:

    ```yaml
    articles:
      a_1:
        text: Refunds take 5 days.
        title: Refunds
    orders: {}
    tickets: {}
    ```

    What always holds; a call that would break it is undone, and records that break it are refused:
    - a refund is never more than the order cost

    ## What the tools do

    The functions behind the tools. What a function returns is what a script sees as `calls.TOOL`.

    ```python
    def refund(world, ctx, order_id):
        return {}
    ```
    "#);
}

#[test]
fn what_is_checked() {
    let playbook = testing::playbook();
    let asked = question(&brief(&playbook));
    let (_, tail) = asked[0].content().rsplit_once("```\n").unwrap();
    insta::assert_snapshot!(tail, @"

    What the program checks:

    - `user_facts` stand in the records, letter for letter. What the user decides now is in `user_request`; what the user has wrong on purpose is in `user_mistakes`.
    - The user says no id, number, date or name that is not in its facts, request, mistakes or goal and that the agent has not said before.
    - The script begins with the user and ends with the agent or with a tool that ends the conversation. A step has exactly one of `user`, `user_calls`, `agent` and `calls`.
    - The first `user` step has four forms: `simple`, `medium`, `complex` and `vague`. A vague one does not say what it is about; the agent then asks back, and the user says the medium form.
    - The agent finds out what it does not know with tools, follows the policy, and says why in `reasoning`.
    - An agent's line may show a value of a tool's answer, `{{ calls.TOOL.FIELD }}`; nothing else is computed. Use it for ids that the backend makes.
    - `expected_outcome.world` names every value that the calls change, new records as `/collection/+/field`. Everything that is not named there must be as it was. `actions` are calls that must have been made. `told` are texts that the agent must have said.
    - Doing nothing must not satisfy the expected outcome: something must be done, or told.
    - People, ids and amounts are your own inventions, unlike those in the records and the examples. Names and addresses belong to nobody real.
    - `personas` may be left out, or name some of: newcomer.

    Answer with one scenario as one YAML document, and nothing before or after it.
    ");
}

#[test]
fn what_a_draft_is_to_be() {
    let playbook = testing::playbook();
    let asked = question(&brief(&playbook));
    insta::assert_snapshot!(asked[1].content(), @"
    Scenarios that are there already, as examples of the form:

    ```yaml
    id: first
    ```

    What the scenarios are about that are there already. Write none of them again, and nothing like them:
    - A refund within the window.

    Write one new scenario with `playbook: shop` and `intent: refund`.
    What is asked for: people who lost their receipt
    ");
}

#[test]
fn long_parts_are_left_out_and_said_to_be() {
    let playbook = testing::playbook();
    let (long, many) = ("x".repeat(CODE + 1), vec!["A case."; KNOWN + 50]);
    let question = question(&Brief { code: &long, examples: vec![&long], known: many, ..brief(&playbook) });
    assert!(!question[0].content().contains("What the tools do"));
    assert!(!question[1].content().contains("examples of the form"));
    assert_eq!(question[1].content().matches("A case.").count(), KNOWN);
}

#[test]
fn a_draft_is_read_and_belongs_where_it_was_asked_for() {
    let fields = read(
        "id: Lost Receipt!\nplaybook: other\nintent: refund\nscript: [{agent: \"{{ calls.a.b }}\"}]",
        "shop",
        "refund",
    );
    let fields = fields.unwrap();
    assert_eq!((fields["playbook"].clone(), id(&fields)), (json!("shop"), "lost_receipt".to_owned()));
    for (given, expected) in
        [("", "drafted"), ("../../etc/passwd", "etc_passwd"), ("ÄÖ", "drafted"), (&"A".repeat(90), &"a".repeat(70))]
    {
        let fields = json!({"id": given}).as_object().unwrap().clone();
        assert_eq!(id(&fields), expected);
    }
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let steps = vec![json!({"user": "Hello"}); STEPS];
    let mut draft =
        json!({"intent": "theft", "description": "x".repeat(301), "user_goal": "y".repeat(2001), "script": steps});
    draft["script"]
        .as_array_mut()
        .unwrap()
        .push(json!({"agent": "{% raw %}", "calls": [{"args": {"a": "{{ 'a' * 9 }}"}}]}));
    insta::assert_snapshot!(read(&draft.to_string(), "shop", "refund").unwrap_err().join("\n"), @"
    intent: expected `refund`
    description: is 301 letters long; at most 300
    user_goal: is 2001 letters long; at most 2000
    script: has 61 steps; at most 60
    script[60]: `{%`: a line may hold values such as `{{ calls.TOOL.FIELD }}`, no other templates
    script[60]: `{{ 'a' * 9 }}`: expected `calls.TOOL.FIELD` or `facts.NAME`, perhaps with one of the filters int, float, round, abs, first, last, length, lower, upper
    ");
}

#[test]
fn a_second_question_holds_the_last_reply_and_its_faults() {
    let first = vec![Message::User { content: "Write.".into() }];
    let again = super::super::again(
        &first,
        "id: a",
        &["intent: expected `refund`".to_owned(), "script: is missing".to_owned()],
    );
    let said: Vec<&str> = again.iter().map(Message::content).collect();
    insta::assert_snapshot!(said.join("\n---\n"), @"
    Write.
    ---
    id: a
    ---
    That cannot be used:
    - intent: expected `refund`
    - script: is missing
    Mend all of it and write the whole document again.
    ");
    assert_eq!(
        super::super::again(&first, &"x".repeat(70_000), &[]).len(),
        2,
        "what is too long to be read is not sent back"
    );
}
