"""What the models of model_mock.py say: to each prompt of the workflows factool, tree_of_thought, wikichat, storm_outline and
natural_reasoning one reply, always the same, in the form that the prompt asks for and about as long as a model's. The facts are
those of their passages.
"""

import json
import re
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from random import Random

WORKFLOWS = Path(__file__).parents[2] / "workflows"


@lru_cache(10_000)
def reply(prompt):
    prompt = "".join(line.strip() + "\n" for line in prompt.splitlines() if line.strip())
    write = next((write for part, write in FORMS if part in prompt), lambda _, random: " ".join(facts(random, 2, 7)))
    return write(prompt, Random(prompt))


def sentences(text):
    return re.split(r"(?<=\.) ", text.strip())


def passages(workflow):
    return [json.loads(line) for line in (WORKFLOWS / workflow / "passages.jsonl").read_text().splitlines()]


FACTS = sorted({fact for name in ("factool", "wikichat") for passage in passages(name) for fact in sentences(passage["text"])})


def facts(random, least, most):
    return random.sample(FACTS, random.randint(least, most))


def between(prompt, before, after):
    return prompt.split(before)[-1].split(after)[0].strip()


def field(prompt, name):
    return between(prompt, f"{name}: ", "\n")


# factool


def claims(prompt, _):
    found = sentences(" ".join(between(prompt, "<answer>", "</answer>").split()))
    return json.dumps([{"claim": claim} for claim in found if claim.endswith(".")])


def queries(prompt, _):
    words = field(prompt, "Claim").strip(".").split()
    return f"{' '.join(words[:4])}\n{' '.join(words)}"


def ranking(prompt, random):
    found = len(re.findall(r"^\[\d+\] ", prompt, re.MULTILINE))
    return json.dumps({"best": random.sample(range(found), min(found, 3))})


def verdict(prompt, random):
    evidence = re.findall(r"^- (.+)", prompt.split("Evidence:")[-1].split("Reply with")[0], re.MULTILINE)
    holds = random.random() < 0.7
    reasoning = f"The claim can be compared with this evidence: {random.choice(evidence or ['there is none.'])}"
    wrong = {"error": "The evidence says something else.", "correction": field(prompt, "Claim")}
    return json.dumps({"reasoning": reasoning, **({"error": None, "correction": None} if holds else wrong), "factuality": holds})


# tree_of_thought

OPERATORS = {"+": Fraction.__add__, "-": Fraction.__sub__, "*": Fraction.__mul__, "/": Fraction.__truediv__}


def steps_from(left):
    """The line of each step, and the numbers that are left behind it."""
    steps = {}
    for i, a in enumerate(left):
        for j, b in enumerate(left):
            for sign, operator in OPERATORS.items():
                if i == j or (sign in "+*" and j < i) or (sign == "/" and b == 0) or (sign == "-" and a < b):
                    continue
                others = [*(left[k] for k in range(len(left)) if k not in (i, j)), operator(a, b)]
                steps[f"{a} {sign} {b} = {others[-1]} (left: {' '.join(map(str, others))})"] = others
    return steps


def reaches_24(left):
    return left == [24] or any(reaches_24(others) for others in steps_from(left).values())


def numbers(prompt, name):
    return [Fraction(text) for text in field(prompt, name).split()]


def proposals(prompt, random):
    """Eight steps, among them up to two that lead to 24."""
    steps = steps_from(numbers(prompt, "Numbers that are left"))
    lines = random.sample(sorted(steps), len(steps))
    useful = [line for line in lines if reaches_24(steps[line])][:2]
    chosen = useful + [line for line in lines if line not in useful][: 8 - len(useful)]
    return "\n".join(random.sample(chosen, len(chosen)))


def vote(prompt, random):
    left = numbers(prompt, "Numbers")
    tried = random.sample(sorted(steps_from(left)), min(len(steps_from(left)), random.randint(2, 5)))
    return "\n".join([*tried, "sure" if reaches_24(left) else "impossible"])


def expression(prompt, _):
    made = [(text, text) for text in re.search(r"from the numbers ([\d ]+):", prompt)[1].split()]
    for a, sign, b, value in re.findall(r"^(\S+) ([-+*/]) (\S+) = (\S+) \(left", prompt, re.MULTILINE):
        sides = []
        for side in (a, b):
            found = next(one for one in made if one[0] == side)
            made.remove(found)
            sides.append(found[1])
        made.append((value, f"({sides[0]} {sign} {sides[1]})"))
    return made[0][1]


# wikichat


def searches(_, random):
    return "\n".join(" ".join(fact.strip(".").split()[:5]) for fact in facts(random, 2, 3))


def memory(_, random):
    return "\n".join(facts(random, 3, 5))


def extract(prompt, random):
    found = sentences(" ".join(prompt.split("<passage")[-1].split(">", 1)[1].split("</passage>")[0].split()))
    return "\n".join(found[: random.randint(1, 2)])


def draft(prompt, _):
    said, source = [], 0
    for line in prompt.split("[2].")[-1].splitlines():
        if number := re.match(r"\[(\d+)\] ", line):
            source = int(number[1])
        elif point := re.match(r"- (.+)", line):
            said.append(f"{point[1].rstrip('.')} [{source}].")
    return " ".join(said[:6])


# storm_outline

PAGES = passages("storm_outline")


def titles(random, least, most):
    return [page["title"] for page in random.sample(PAGES, random.randint(least, most))]


def related(_, random):
    return "\n".join(titles(random, 3, 5))


def interests(_, random):
    return "\n".join(f"{who}: {title}" for who, title in zip(("Historian", "Engineer", "Sociologist"), titles(random, 3, 3)))


def question(prompt, random):
    asked = prompt.count("\nExpert: ")
    if asked and random.random() < 0.4:
        return "NO MORE QUESTIONS"
    return f"What should readers know about {titles(random, 1, 1)[0]}, and what follows from it for this article?"


def lookups(_, random):
    return "\n".join(titles(random, 2, 3))


def told(prompt, _):
    found = re.findall(r"^\[(\d+)\] [^:]+: (.+)", prompt, re.MULTILINE)
    return " ".join(f"{text} [{number}]" for number, text in found)


def outline(_, random):
    return "\n".join(f"# {title}\n## Origin\n## Use" for title in titles(random, 3, 5))


# natural_reasoning


def scores(_, random):
    return json.dumps({name: random.randint(1, 5) for name in ("completeness", "depth", "correctness", "reasoning")})


FORMS = [
    ("Name up to five existing articles on similar subjects", related),
    ("Name three sides that belong to a complete article", interests),
    ("Ask your next question: one that the expert", question),
    ("Write up to three queries, one a line", lookups),
    ("Answer with what these sources say, as fully", told),
    ("Improve the outline with what they learned", outline),
    ("Write the outline of an encyclopedia article about", outline),
    ("as the source of an exam question", scores),
    ("List the claims of the answer below", claims),
    ("Write two different queries for a search engine", queries),
    ("Which of these passages", ranking),
    ("Is the claim below true?", verdict),
    ("List up to eight useful next steps", proposals),
    ("Can all of these numbers, each used once", vote),
    ("These steps make 24 from the numbers", expression),
    ("Which queries would it type?", searches),
    ("Write it as separate claims", memory),
    ("Which parts of the passage help", extract),
    ("with what these sources say", draft),
    ("No source says anything about this", lambda *_: "I do not know, and I found nothing about it."),
]
