// Runs a MicroPython program on lines of input: node micropython_run.mjs MODULE PROGRAM INPUT
// prints one line for each: the released line, or "!" and the reason of a rejection.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [module, program, input] = process.argv.slice(2);
const { loadMicroPython } = await import(pathToFileURL(module));
const micropython = await loadMicroPython({ heapsize: 64 * 1024 * 1024, stdout: () => {} });
micropython.FS.writeFile("/exported.py", readFileSync(program, "utf8"));
micropython.FS.writeFile("/input.jsonl", readFileSync(input, "utf8"));
micropython.runPython(`
import sys
sys.path.insert(0, "/")
import exported
encoder = exported.Encoder(exported.MODEL)
with open("/input.jsonl", "rb") as source, open("/output.jsonl", "wb") as goal:
    while True:
        raw = source.readline()
        if not raw:
            break
        try:
            released, _ = exported.encode_line(encoder, raw.decode().rstrip("\\r\\n"))
        except exported.Rejected as problem:
            released = "!" + str(problem)
        goal.write((released + "\\n").encode())
`);
process.stdout.write(micropython.FS.readFile("/output.jsonl", { encoding: "utf8" }));
