
const encoder = new Encoder(MODEL);
const shoal = {
  MODEL,
  Encoder,
  Rejected,
  encode: (record) => encoder.encode(record),
  encodeLine: (line) => encoder.encodeLine(line),
};
globalThis.shoal = shoal;
if (typeof module !== "undefined" && module.exports) {
  module.exports = shoal;
  // node FILE < records.jsonl > released.jsonl
  if (typeof require === "function" && require.main === module) {
    const input = require("readline").createInterface({ input: process.stdin, crlfDelay: Infinity });
    let rejected = 0;
    input.on("line", (line) => {
      try {
        const released = encoder.encodeLine(line);
        if (released !== null) process.stdout.write(released + "\n");
      } catch (problem) {
        if (!(problem instanceof Rejected)) throw problem;
        rejected += 1;
      }
    });
    input.on("close", () => {
      if (rejected) process.stderr.write(rejected + " lines rejected\n");
    });
  }
}
