#!/usr/bin/env node
import { demoRows } from './demo.mjs';
/**
 * `npm run bench [-- NAME…]`: one table of ratios, each taken in this run on this machine. Absolute figures stand beside
 * them only for orientation. A ratio over its bound makes the exit status 1.
 */
import { graphRows } from './graph.mjs';
import { startRows } from './start.mjs';

const BENCHES = { start: startRows, graph: graphRows, demo: demoRows };

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => BENCHES[name] === undefined);
if (unknown.length > 0) {
  console.error(
    `bench: there is no ${unknown.join(', ')}; choose of ${Object.keys(BENCHES).join(', ')}`,
  );
  process.exit(2);
}

const rows = [];
for (const [name, measure] of Object.entries(BENCHES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stderr.write(`measuring ${name} …\n`);
  rows.push(...(await measure()));
}

const table = rows.map((row) => [
  row.what,
  row.ratio === null ? '' : `${row.ratio.toFixed(2)} ×`,
  row.bound === null ? '' : `≤ ${row.bound} ×`,
  row.bound === null || row.ratio === null ? '' : row.ratio <= row.bound ? 'ok' : 'OVER',
  row.detail,
]);
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
process.exitCode = table.some((row) => row[3] === 'OVER') ? 1 : 0;
