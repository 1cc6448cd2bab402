"""A dictionary of our own in WordNet's format, a few synsets long."""

from __future__ import annotations

# name: words, hypernyms (a pointer each)
SYNSETS = {
    "entity": (["entity"], []),
    "object": (["object", "thing"], ["@ entity"]),
    "living": (["living_thing"], ["@ object"]),
    "being": (["being"], ["@ living"]),
    "agent": (["agent"], ["@ entity"]),
    "person": (["person", "someone"], ["@ being", "@ agent"]),  # two ways up
    "worker": (["worker"], ["@ person"]),
    "cleaner1": (["cleaner"], ["@ object"]),
    "cleaner2": (["cleaner", "char"], ["@ worker"]),
    "clerk": (["clerk"], ["@ worker"]),
    "place": (["place"], ["@ object"]),
    "country": (["country"], ["@ place"]),
    "land": (["land"], ["@i country", "#p place"]),
    "isle": (["isle"], ["@i place"]),
}
SENSES = {
    "entity": ["entity"], "object": ["object"], "person": ["person"], "worker": ["worker"],
    "cleaner": ["cleaner1", "cleaner2"], "clerk": ["clerk"], "country": ["country"],
    "land": ["land"], "isle": ["isle"], "place": ["place"], "agent": ["agent"],
    "someone": ["person"], "being": ["being"],
}  # fmt: skip
HEAD = "  1 This dictionary was written for a test.\n"


def write_dictionary(folder):
    """Write data.noun and index.noun; return the folder."""
    offsets = dict.fromkeys(SYNSETS, 0)
    for _ in range(2):  # all offsets have eight digits, so the second pass has them right
        text = HEAD
        for name, (words, above) in SYNSETS.items():
            offsets[name] = len(text.encode())
            shown = " ".join(f"{word} 0" for word in words)
            links = [f"{mark} {offsets[to]:08d} n 0000" for mark, to in map(str.split, above)]
            pointers = " ".join([f"{len(links):03d}", *links])
            text += (
                f"{offsets[name]:08d} 03 n {len(words):02x} {shown} {pointers} | a {name} | here\n"
            )
    (folder / "data.noun").write_text(text)
    lines = [
        f"{lemma} n {len(names)} 1 @ {len(names)} 0 "
        + " ".join(f"{offsets[name]:08d}" for name in names) + "  \n"
        for lemma, names in sorted(SENSES.items())
    ]  # fmt: skip
    (folder / "index.noun").write_text(HEAD + "".join(lines))
    return folder
