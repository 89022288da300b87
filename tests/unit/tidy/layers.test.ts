import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const require = createRequire(import.meta.url);
const enforced = (require('../../../.dependency-cruiser.cjs') as { rank: Record<string, number> })
  .rank;

/** Rows such as "| 3 | `mailbox` · `events` |" below a "| rank | rooms |" heading. */
function readTable(markdown: string): Record<string, number> {
  const lines = markdown.split('\n').map((line) => line.trim());
  const heading = lines.findIndex((line) => /^\|\s*rank\s*\|\s*rooms\s*\|/i.test(line));
  if (heading < 0) throw new Error('ARCHITECTURE.md has no "| rank | rooms |" table');
  const table: Record<string, number> = {};
  for (const line of lines.slice(heading + 2)) {
    const row = /^\|\s*(\d+)\s*\|(.*)\|$/.exec(line);
    if (row === null) break;
    for (const cell of (row[2] ?? '').split(' · ')) {
      const room = /`([a-z-]+)`/.exec(cell)?.[1];
      if (room === undefined) throw new Error(`no room in "${cell}" of rank ${row[1]}`);
      if (room in table) throw new Error(`${room} is listed twice`);
      table[room] = Number(row[1]);
    }
  }
  return table;
}

const rooms = readdirSync(`${root}src`, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

test('each room of src has a rank in .dependency-cruiser.cjs', () => {
  expect(rooms.filter((room) => !(room in enforced))).toEqual([]);
});

test('the layer table of ARCHITECTURE.md is the one that is enforced', () => {
  const path = `${root}ARCHITECTURE.md`;
  expect(existsSync(path), 'ARCHITECTURE.md is missing').toBe(true);
  const documented = readTable(readFileSync(path, 'utf8'));

  expect(rooms.filter((room) => !(room in documented))).toEqual([]);
  // A room that is not written yet may be absent from the page, but none may have another rank.
  expect(enforced).toMatchObject(documented);
});
