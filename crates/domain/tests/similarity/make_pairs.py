"""Records what Python's difflib says of pairs of texts: python3 make_pairs.py > pairs.json"""

import json
import random
from difflib import SequenceMatcher

random.seed(1988)

WORDS = """a customer asks the bank to refund an overdraft fee that was charged twice in March because their salary came
late and agent finds both fees grants one refuses second explains why offers payment plan for card lost abroad""".split()

FIXED = [
    ("", ""), ("", "a"), ("a", ""), ("a", "a"), ("a", "b"), ("ab", "ba"), ("abcd", "bcde"), ("tide", "diet"),
    ("diet", "tide"), ("aaaa", "aa"), ("aaaaaaab", "baaaaaaa"), ("abxcd", "abcd"), (" abcd", "abcd abcd"),
    ("private Thread currentThread;", "private volatile Thread currentThread;"), ("qabxcd", "abycdf"),
    ("Straße", "STRASSE"), ("naïve", "naive"), ("nai\u0308ve", "naïve"), ("日本語の文章", "日本の文章語"),
    ("🏦💳🏦", "💳🏦💳"), ("👩‍👧 lost her card", "👩 lost her card"), ("מזהה לקוח", "לקוח מזהה"), ("\u0000a", "a\u0000"),
    ("line\nline\r\n", "line\r\nline\n"), ("ab" * 150, "ba" * 150), ("a" * 400, "a" * 399 + "b"), ("x" * 300, "y" * 300),
]


def letters(alphabet, longest):
    return "".join(random.choice(alphabet) for _ in range(random.randint(0, longest)))


def sentence(words):
    return " ".join(random.choice(WORDS) for _ in range(words))


def edited(text):
    """The text with some letters lost, changed, doubled or moved."""
    text = list(text)
    for _ in range(random.randint(0, 12)):
        at = random.randrange(len(text) + 1)
        match random.choice(["lose", "change", "double", "move"]):
            case "lose":
                del text[at : at + random.randint(1, 5)]
            case "change":
                text[at : at + 1] = random.choice("aeiouéß日🏦 ")
            case "double":
                text[at:at] = text[at : at + 8]
            case "move":
                part = text[at : at + 10]
                del text[at : at + 10]
                to = random.randrange(len(text) + 1)
                text[to:to] = part
    return "".join(text)


def pairs():
    yield from FIXED
    for alphabet, longest in [("ab", 12), ("abc", 40), ("abcdefgh ", 80), ("äöü日本語🏦", 30), ("ab", 260)]:
        for _ in range(25):
            yield letters(alphabet, longest), letters(alphabet, longest)
    for words in [5, 20, 20, 20, 60]:
        for _ in range(30):
            text = sentence(words)
            yield text, edited(text)
        for _ in range(10):
            yield sentence(words), sentence(words)
    for _ in range(4):
        text = sentence(400)
        yield text, edited(text)


rows = [[a, b, SequenceMatcher(None, a, b, autojunk=False).ratio()] for a, b in pairs()]
print("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]")
