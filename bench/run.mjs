#!/usr/bin/env node
/**
 * `npm run bench [-- NAME…]`: one table of ratios, each taken in this run on this machine. Absolute figures stand beside
 * them only for orientation. A ratio on the wrong side of its bound makes the exit status 1.
 */
import { agentRows } from './agent.mjs';
import { decisionRows } from './decisions.mjs';
import { demoRows } from './demo.mjs';
import { graphRows } from './graph.mjs';
import { journalRows } from './journal.mjs';
import { peerRows } from './peers.mjs';
import { sandboxRows } from './sandbox.mjs';
import { startRows } from './start.mjs';
import { supervisorRows } from './supervisor.mjs';
import { takeUpRows } from './take-up.mjs';
import { wireRows } from './wire.mjs';
import { worktreeRows } from './worktree.mjs';

const BENCHES = {
  start: startRows,
  graph: graphRows,
  demo: demoRows,
  journal: journalRows,
  'take-up': takeUpRows,
  agent: agentRows,
  supervisor: supervisorRows,
  wire: wireRows,
  worktree: worktreeRows,
  permissions: async () => [...(await decisionRows()), ...(await sandboxRows())],
};
/** These install things and start servers, so they run only when they are named. */
const ON_REQUEST = { peers: peerRows };

const wanted = process.argv.slice(2);
const all = { ...BENCHES, ...ON_REQUEST };
const unknown = wanted.filter((name) => all[name] === undefined);
if (unknown.length > 0) {
  console.error(
    `bench: there is no ${unknown.join(', ')}; choose of ${Object.keys(all).join(', ')}`,
  );
  process.exit(2);
}

const rows = [];
for (const [name, measure] of Object.entries(wanted.length > 0 ? all : BENCHES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stderr.write(`measuring ${name} …\n`);
  rows.push(...(await measure()));
}

const table = rows.map((row) => [
  row.what,
  row.ratio === null ? '' : `${row.ratio.toFixed(2)} ×`,
  boundOf(row),
  row.ratio === null || boundOf(row) === '' ? '' : holds(row) ? 'ok' : 'MISSED',
  row.detail,
]);

function boundOf(row) {
  if (row.least !== undefined) return `≥ ${row.least} ×`;
  return row.bound === null ? '' : `≤ ${row.bound} ×`;
}

function holds(row) {
  return row.least === undefined ? row.ratio <= row.bound : row.ratio >= row.least;
}

const head = ['what', 'measured', 'bound', '', 'figures of this run'];
const widths = head.map((text, index) =>
  Math.max(text.length, ...table.map((row) => row[index].length)),
);
for (const line of [head, ...table]) {
  console.log(
    line
      .map((text, index) => text.padEnd(widths[index]))
      .join('  ')
      .trimEnd(),
  );
}
process.exitCode = table.some((row) => row[3] === 'MISSED') ? 1 : 0;
