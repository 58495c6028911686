// Starts Sojourn on a journey file and asserts on its JSON report: `npm install && npm test`.
//
// SOJOURN says where the program is, when it is not on the PATH.
const { spawn, spawnSync } = require("node:child_process");
const fs = require("node:fs");
const net = require("node:net");
const os = require("node:os");
const path = require("node:path");

const EXAMPLES = path.resolve(__dirname, "../..");
const SOJOURN = process.env.SOJOURN ?? "sojourn";

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer().on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    socket.on("connect", () => resolve(socket.destroy() && true));
    socket.on("error", () => resolve(false));
  });
}

// The system under test. Yours is there already: leave this out.
async function startShop(port, hooks) {
  const env = { ...process.env, HOOKS: `http://127.0.0.1:${hooks}` };
  const words = ["mock", path.join(EXAMPLES, "orders-mock.yaml"), "--listen", `127.0.0.1:${port}`];
  const shop = spawn(SOJOURN, words, { env, stdio: "ignore" });
  for (let tries = 0; tries < 600 && !(await answers(port)); tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return shop;
}

let report;
let shop;

// A value of the report by its JSON pointer.
function at(pointer) {
  return pointer.split("/").slice(1).reduce((value, part) => value[part], report);
}

beforeAll(async () => {
  const [port, hooks] = [await freePort(), await freePort()];
  shop = await startShop(port, hooks);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "orders-"));
  const file = path.join(folder, "report.json");
  const words = ["run", path.join(EXAMPLES, "from-tests/orders.yaml"), "--quiet"];
  words.push("--target", `http://127.0.0.1:${port}`, "-e", `LISTEN=127.0.0.1:${hooks}`);
  words.push("--output", path.join(folder, "run.sojourn"), "--report", file);
  const ran = spawnSync(SOJOURN, words, { encoding: "utf8" });
  // 0, 3 (void) and 99 (a threshold failed) leave a report, which says more than a number.
  if (![0, 3, 99, 105].includes(ran.status)) throw new Error(ran.stderr);
  report = JSON.parse(fs.readFileSync(file, "utf8"));
  fs.rmSync(folder, { recursive: true });
});

afterAll(() => shop.kill());

test("the figures may be believed", () => {
  expect(["void", "unfinished"]).not.toContain(at("/verdict/outcome"));
});

test("every threshold held", () => {
  const missed = at("/thresholds").filter((row) => !row.held);
  expect(missed.map((row) => row.text)).toEqual([]);
});

test("no order is lost", () => {
  const started = at("/ledger/journeys_total/steady/started");
  expect(started).toBeGreaterThan(0);
  expect(at("/ledger/journeys_total/steady/completed")).toBe(started);
  expect(at("/ledger/journeys_total/steady/lost")).toBe(0);
});

test("orders are shipped soon", () => {
  expect(at("/journeys/0/stages/1/name")).toBe("shipped");
  expect(at("/journeys/0/stages/1/hop_ns/p95")).toBeLessThan(10e9);
  expect(at("/journeys/0/duration_ns/p99")).toBeLessThan(15e9);
});
