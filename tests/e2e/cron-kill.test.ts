/**
 * C6, C9 on a real clock: a job of every second while its supervisor is killed again and again. In CI for ten seconds, by
 * `npm run cron:kill` for a minute.
 */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import type { CronHistoryRow } from '../../src/protocol/cron.ts';
import { json, noteOf, useUpWorld } from './up-world.ts';

const SECONDS = Number(process.env['TROUPE_CRON_KILL_SECONDS'] ?? 10);

const up = useUpWorld();

test(
  'C9 every second under kill -9: each slot is there exactly once, or named as skipped',
  async () => {
    const { world } = up;
    const log = join(world.repo, '.git/slots.log');
    writeFileSync(log, '');
    expect(world.troupe('up').code).toBe(0);
    // It begins with its line and ends a little later, so that deaths come before, in and after it.
    const command = `echo "$TROUPE_CRON_SLOT" >> '${log}'; sleep 0.3`;
    const added = world.troupe('cron', 'add', 'tick', '--every', '1s', '--command', command);
    expect(added.code, added.stderr).toBe(0);
    const kills = await killAgainAndAgain(log);
    expect(kills).toBeGreaterThan(1);
    expect(world.troupe('cron', 'pause', 'tick').code).toBe(0);
    const down = world.troupe('down');
    expect(down.code, down.stderr).toBe(0);

    const rows = (json(world, 'cron', 'history', 'tick') as CronHistoryRow[]).toReversed();
    const covered = rows.flatMap(slotsOf);
    const first = covered[0] ?? 0;
    // No slot twice, and none is left out.
    expect(covered).toEqual(covered.map((_, index) => first + index * 1_000));
    expect(covered.length).toBeGreaterThanOrEqual(SECONDS - 1);
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    expect(new Set(lines).size).toBe(lines.length);
    for (const row of rows) {
      if (row.state === 'skipped') expect(row.reason).toMatch(/^(missed|overlap|paused)/);
      else if (row.state === 'interrupted') expect(row.reason).toMatch(/cut off|stopped/);
      else expect([row.state, lines.includes(row.slot)]).toEqual(['done', true]);
    }
    const begun = rows.filter(({ state }) => state === 'done' || state === 'interrupted');
    expect(lines.filter((line) => !begun.some(({ slot }) => slot === line))).toEqual([]);

    function slotsOf({ slot, until, count }: CronHistoryRow): number[] {
      const from = Date.parse(slot);
      const all = Array.from({ length: count ?? 0 }, (_, index) => from + index * 1_000);
      expect(all.at(-1)).toBe(Date.parse(until ?? slot));
      return all;
    }
  },
  (SECONDS + 60) * 1_000,
);

/** At some moment of the second after its next line, each time. Returns how often. */
async function killAgainAndAgain(log: string): Promise<number> {
  const { world } = up;
  const until = Date.now() + SECONDS * 1_000;
  const tail = spawn('tail', ['-n', '0', '-F', log], { stdio: ['ignore', 'pipe', 'ignore'] });
  const lines = createInterface({ input: tail.stdout })[Symbol.asyncIterator]();
  let kills = 0;
  try {
    while (Date.now() < until) {
      await lines.next();
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 600));
      const pid = noteOf(world)?.supervisor;
      if (typeof pid !== 'number') break;
      process.kill(pid, 'SIGKILL');
      kills += 1;
      // It gives up a supervisor that dies too often; a person starts it again.
      if (kills % KILLS_OF_A_PARENT === 0) {
        world.troupe('down', '--now');
        expect(world.troupe('up').code).toBe(0);
      }
    }
  } finally {
    tail.kill();
  }
  await tickOnce(log);
  return kills;
}

const KILLS_OF_A_PARENT = 3;

/** What was cut off is taken up, and a slot after it fires. */
async function tickOnce(log: string): Promise<void> {
  const tail = spawn('tail', ['-n', '0', '-F', log], { stdio: ['ignore', 'pipe', 'ignore'] });
  await createInterface({ input: tail.stdout })[Symbol.asyncIterator]().next();
  tail.kill();
}
