/**
 * `kill -9` of the demo at random points, fresh ones each time, and going on until it ends: the result is that of a demo
 * that nobody killed. `TROUPE_TEST_SEED=N` repeats the points of a failure; `TROUPE_TEST_ROUNDS=N` looks for longer.
 */
import { randomInt } from 'node:crypto';
import { existsSync, type FSWatcher, readdirSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { MailRow } from '../../src/protocol/index.ts';
import { SeededRandom } from '../../src/testing/seeded-random.ts';
import { type Ended, Place, processesOf, type Started } from './demo-world.ts';

const seed = Number(process.env['TROUPE_TEST_SEED'] ?? randomInt(2 ** 31));
const ROUNDS = Number(process.env['TROUPE_TEST_ROUNDS'] ?? 3);
const KILLS = 3;
/** About as many records as a demo makes. */
const RECORDS = 350;
/** More lives than this and something does not go on. */
const LIVES_MAX = KILLS + 4;

const places: Place[] = [];
afterAll(() => {
  for (const place of places) place.remove();
});

interface Outcome {
  readonly tree: string;
  readonly tasks: readonly string[];
  readonly attempts: readonly number[];
  readonly reworks: number;
  readonly mail: readonly MailRow[];
  readonly finished: readonly string[];
  readonly left: readonly string[];
}

it(
  `the demo, killed at random points, ends as without (TROUPE_TEST_SEED=${seed})`,
  async () => {
    const random = new SeededRandom(seed);
    const rounds = Array.from({ length: ROUNDS }, () => killPoints(random));
    const resumes = rounds.map(() => Array.from({ length: KILLS }, () => random.below(2) === 1));
    const story = `TROUPE_TEST_SEED=${seed}, kills after records ${JSON.stringify(rounds)}`;
    // Two at a time: most of a demo is waiting.
    const round = (index: number): Promise<Outcome> =>
      play(rounds[index] ?? [], resumes[index] ?? []);
    const [whole, first] = await Promise.all([play([], []), round(0)]);
    const rest: Outcome[] = [];
    for (let index = 1; index < ROUNDS; index += 2) {
      const pair = [index, index + 1].filter((one) => one < ROUNDS);
      rest.push(...(await Promise.all(pair.map(round))));
    }
    for (const [index, outcome] of [whole, first, ...rest].entries()) {
      const what = `${index === 0 ? 'not killed' : `round ${index}`}; ${story}`;
      expect(outcome.tree, what).toBe(whole.tree);
      expect(outcome.tasks, what).toEqual(whole.tasks);
      expect(outcome.attempts, what).toEqual(whole.attempts);
      expect(outcome.reworks, what).toBe(2);
      expect(outcome.left, what).toEqual([]);
      expect(new Set(outcome.finished).size, `T3: done once; ${what}`).toBe(
        outcome.finished.length,
      );
      checkMail(outcome.mail, what);
    }
  },
  120_000 + ROUNDS * 30_000,
);

/** Numbers of records in the journal, in order; the first may be before the run has begun. */
function killPoints(random: SeededRandom): number[] {
  return Array.from({ length: KILLS }, () => random.below(RECORDS)).toSorted((a, b) => a - b);
}

/** M2, M3, M4: each envelope once, positions without a gap, all seen. */
function checkMail(mail: readonly MailRow[], what: string): void {
  expect(new Set(mail.map((row) => row.id)).size, `M2: ${what}`).toBe(mail.length);
  for (const box of new Set(mail.map((row) => row.to))) {
    const positions = mail.filter((row) => row.to === box).map((row) => row.n);
    expect(positions, `M4: ${box}; ${what}`).toEqual(positions.map((_, index) => index + 1));
  }
  expect(
    mail.filter((row) => row.state !== 'seen'),
    `M3: ${what}`,
  ).toEqual([]);
  // What the team says to each other is said once, however often a step was begun.
  const said = mail.filter((row) => row.type === 'chat.message').map((row) => row.body.text);
  expect(new Set(said).size, `said twice; ${what}`).toBe(said.length);
}

/** `resumes`: after which of the kills `troupe resume` goes on, where there is a run already; else `troupe demo`. */
async function play(points: readonly number[], resumes: readonly boolean[]): Promise<Outcome> {
  const place = new Place();
  places.push(place);
  const repo = join(place.root, 'demo');
  const left = [...points];
  for (let lives = 1; ; lives += 1) {
    if (lives > LIVES_MAX) throw new Error(`no end after ${LIVES_MAX} lives`);
    const run = runOf(repo);
    const resume = run !== null && resumes[lives - 2] === true;
    const started = resume
      ? place.start(repo, 'resume', run)
      : place.start(place.root, 'demo', 'demo');
    const point = left.shift();
    if (point !== undefined) await killAfter(started, place.root, repo, point);
    const ended = await started.ended;
    if (ended.signal === 'SIGKILL') continue;
    // A resume may come too late: the run had ended when it was killed.
    if (ended.code === 0 && left.length === 0 && !resume) return outcomeOf(place, repo);
    if (ended.code !== 0 && !(resume && isOver(ended))) {
      throw new Error(`life ${lives} ended with ${ended.code}:\n${ended.stdout}\n${ended.stderr}`);
    }
    left.length = 0;
  }
}

const isOver = (ended: Ended): boolean => /has ended|is over|is done/.test(ended.stderr);

/** Null before there is one. */
function runOf(repo: string): string | null {
  const folder = join(repo, '.git/troupe/runs');
  if (!existsSync(folder)) return null;
  return readdirSync(folder).find((name) => !name.startsWith('.')) ?? null;
}

/** Kills it as soon as the journal has so many records; resolves then, or when it ended before. */
async function killAfter(
  started: Started,
  root: string,
  repo: string,
  records: number,
): Promise<void> {
  const watchers: FSWatcher[] = [];
  const watched = new Set<string>();
  await new Promise<void>((resolve) => {
    const look = (): void => {
      const run = runOf(repo);
      const journal = run === null ? null : join(repo, '.git/troupe/runs', run, 'journal');
      const folders = [root, repo, join(repo, '.git/troupe'), join(repo, '.git/troupe/runs')];
      for (const folder of journal === null
        ? folders
        : [...folders, join(journal, '..'), journal]) {
        if (watched.has(folder) || !existsSync(folder)) continue;
        watched.add(folder);
        watchers.push(watch(folder, look));
      }
      if (existsSync(repo) && countRecords(journal) >= records) {
        started.child.kill('SIGKILL');
        resolve();
      }
    };
    // Whatever is printed comes with a record; it also finds folders that came while nobody watched.
    started.child.stdout?.on('data', look);
    void started.ended.then(() => {
      resolve();
    });
    look();
  });
  for (const watcher of watchers) watcher.close();
}

function countRecords(journal: string | null): number {
  if (journal === null || !existsSync(journal)) return 0;
  const lines = readdirSync(journal)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => readFileSync(join(journal, name), 'utf8').split('\n').length - 1);
  return lines.reduce((sum, one) => sum + one, 0);
}

async function outcomeOf(place: Place, repo: string): Promise<Outcome> {
  const [run] = await place.runs(repo);
  if (run === undefined) throw new Error('no run');
  const tasks = await place.tasks(repo);
  const mail = await place.mail(repo);
  const finished = mail.filter((row) => row.type === 'task.finished').map((row) => row.task ?? '');
  return {
    tree: place.git(repo, 'rev-parse', `${run.branch}^{tree}`),
    tasks: tasks.map((task) => `${task.id} ${task.state}`),
    attempts: tasks.map((task) => task.attempt),
    reworks: mail.filter((row) => row.type === 'task.rework').length,
    mail,
    finished,
    left: [...place.leftovers(repo, run.id), ...processesOf(run.id)],
  };
}
