/**
 * Explores what a crash can do to the mail of a run: the whole way from a send to a committed answer, on a disk that
 * fails, fills and dies before each of its operations; a second crash in what follows. The checkers are
 * `mail-checks.ts`.
 */
import { readJournal, type StoredRecord } from '../../../src/journal/index.ts';
import type { Lane } from '../../../src/protocol/index.ts';
import { RETRY_BASE_MS } from '../../../src/supervisor/limits.ts';
import { CRASH_MODES, type CrashMode } from '../../../src/testing/memory-disk.ts';
import type { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';
import { DIRECTORY, type Exploration, type Mutate, newDisk } from './explorer.ts';
import { judgeEnd, judgeRepetition, judgeStart } from './mail-checks.ts';
import { type Fact, LARGE_ID, textOf } from './mail-facts.ts';
import { type Letter, MailWorld } from './mail-world.ts';

const SECOND_SHARE = 0.06;
const END_SHARE = 0.15;
const RECOVERY_OPERATIONS = 24;

interface Moment {
  readonly disk: MemoryFiles;
  readonly facts: readonly Fact[];
  readonly path: string;
}

interface Life {
  readonly seed: string;
  readonly mutate: Mutate;
  readonly path: string;
  readonly modesOf: (number: number) => readonly CrashMode[];
}

export async function exploreMail(
  seed: string,
  mutate: Mutate,
  statesMax: number,
): Promise<Exploration> {
  const exploration: Exploration = { states: 0, violation: null };
  const random = new SeededRandom(`${seed}/choice`);
  const goesOn = (): boolean => exploration.violation === null && exploration.states < statesMax;
  const life: Life = { seed, mutate, path: '', modesOf: () => CRASH_MODES };
  for (const moment of await live(await newDisk(seed), [], life, exploration)) {
    if (!goesOn()) break;
    const again = moment.disk.fork('kill');
    await check(moment, life, exploration, random.next() < END_SHARE);
    if (random.next() >= SECOND_SHARE || !goesOn()) continue;
    const modesOf = (number: number): readonly CrashMode[] =>
      number <= RECOVERY_OPERATIONS || random.next() < 0.1
        ? CRASH_MODES.filter(() => random.next() < 0.4)
        : [];
    const path = `${moment.path}, then `;
    const second: Life = { seed: `${seed}/second`, mutate, path, modesOf };
    for (const later of await live(again, moment.facts, second, exploration)) {
      if (!goesOn()) break;
      await check(later, second, exploration, random.next() < END_SHARE);
    }
  }
  return exploration;
}

/** Runs a life and sets aside every disk that a crash could leave of it. */
async function live(
  disk: MemoryFiles,
  before: readonly Fact[],
  life: Life,
  exploration: Exploration,
): Promise<Moment[]> {
  const moments: Moment[] = [];
  const facts = [...before];
  const start = disk.operations;
  const setAside = (number: number): void => {
    const modes = life.modesOf(number);
    if (modes.length === 0) return;
    const known = facts.slice();
    for (const mode of modes) {
      moments.push({ disk: disk.fork(mode), facts: known, path: `${life.path}${number}/${mode}` });
    }
  };
  disk.before = ({ number }) => setAside(number - start);
  try {
    await work(disk, life, facts);
    setAside(disk.operations - start + 1);
  } catch (error) {
    exploration.violation ??= `${life.path}while it worked: ${String(error)}`;
  }
  disk.before = null;
  return moments;
}

async function check(
  moment: Moment,
  life: Life,
  exploration: Exploration,
  toTheEnd: boolean,
): Promise<void> {
  exploration.states += 1;
  let found: string | null;
  try {
    found = await judge(moment, life, toTheEnd);
  } catch (error) {
    found = `recovery failed: ${String(error)}`;
  }
  if (found !== null) exploration.violation ??= `crash ${moment.path}: ${found}`;
}

async function judge(moment: Moment, life: Life, toTheEnd: boolean): Promise<string | null> {
  const { disk } = moment;
  const { seed, mutate } = life;
  const facts = [...moment.facts];
  const world = await MailWorld.open({ disk, seed: `${seed}/after`, mutate, facts });
  const { records, state, journal } = world;
  const gaps = journal.report.gaps.length;
  const broken = judgeStart({ records, gaps, state }, moment.facts);
  if (broken !== null || !toTheEnd) return broken;
  await world.begin();
  const letters = lettersIn(moment.facts);
  for (const letter of letters) {
    await world.offer(letter);
    await world.settle();
  }
  await world.clock.advance(25);
  // A letter that was in a request at two cuts waits before it is given again (M10).
  if (world.hasMail) await world.clock.advance(RETRY_BASE_MS * 8);
  await world.stop();
  const refused = new Set(facts.flatMap((fact) => (fact.type === 'refused' ? [fact.id] : [])));
  const wanted = letters.filter(({ id }) => !refused.has(id)).map(({ id }) => id);
  const after = await readAll(disk);
  return judgeEnd(after, new Set(wanted)) ?? judgeRepetition(after);
}

/** Every letter that was ever offered, for offering it again. */
function lettersIn(facts: readonly Fact[]): Letter[] {
  const letters = new Map<string, Letter>();
  for (const fact of facts) {
    if (fact.type !== 'offered') continue;
    const { id, to, text } = fact;
    letters.set(id, { id, to, text, lane: 'normal' });
  }
  return [...letters.values()];
}

export async function readAll(files: MemoryFiles): Promise<StoredRecord[]> {
  const all: StoredRecord[] = [];
  for await (const record of readJournal({ files, directory: DIRECTORY })) all.push(record);
  return all;
}

/** Senders in and out of step while the disk does its worst; when the process gives up, another one goes on. */
async function work(disk: MemoryFiles, life: Life, facts: Fact[]): Promise<void> {
  const known = facts.length;
  const random = new SeededRandom(`${life.seed}/work`);
  const letters = drawLetters(random, life.seed.replaceAll(/[^a-z0-9]/g, '-'));
  const open = (name: string): Promise<MailWorld> =>
    MailWorld.open({ disk, seed: `${life.seed}/${name}`, mutate: life.mutate, facts });
  let world = await open('first');
  await world.begin();
  drawFault(disk, random);
  const half = Math.ceil(letters.length / 2);
  await send(world, letters.slice(0, half), random);
  if (random.next() < 0.2) await world.stopActor('bo');
  await send(world, letters.slice(half), random);
  if (random.next() < 0.5) await world.clock.advance(25);
  const mine = facts.slice(known);
  const offers = mine.filter(({ type }) => type === 'offered').length;
  if (mine.filter(isOutcome).length < offers) throw new Error('C6: a send was never answered');
  const full = mine.some((fact) => fact.type === 'refused' && fact.code === 'journal/full');
  if (full) await world.finished.catch(() => undefined);
  const refused = mine.some((fact) => fact.type === 'refused' && !isExpected(fact.code));
  const gaveUp = refused || world.isOver;
  if (full && !(await saysFull(disk))) throw new Error('C8: nothing says that the disk is full');
  disk.spaceLeft = null;
  disk.writeBytesMax = null;
  if (gaveUp) {
    world = await open('next');
    await world.begin();
    await send(world, letters, random);
  }
  await world.settle();
  if (random.next() < 0.5) await world.stop();
}

async function saysFull(disk: MemoryFiles): Promise<boolean> {
  const records = await readAll(disk);
  return records.some(({ run }) =>
    JSON.stringify(run ?? null)
      .toLowerCase()
      .includes('no space is left'),
  );
}

const OUTCOMES: ReadonlySet<Fact['type']> = new Set(['accepted', 'dead', 'duplicate', 'refused']);
const isOutcome = (fact: Fact): boolean => OUTCOMES.has(fact.type);

/** The sender is to blame, or has to wait. */
function isExpected(code: string): boolean {
  return code === 'mailbox/unknown' || code === 'mailbox/full';
}

async function send(
  world: MailWorld,
  letters: readonly Letter[],
  random: SeededRandom,
): Promise<void> {
  const flying: Promise<void>[] = [];
  for (const letter of letters) {
    flying.push(world.offer(letter));
    if (random.next() < 0.4) await world.settle();
  }
  await world.settle();
  await Promise.race([Promise.all(flying), world.settle()]);
}

function drawLetters(random: SeededRandom, prefix: string): Letter[] {
  const count = 4 + random.below(5);
  const dying = random.below(count * 3);
  return Array.from({ length: count }, (_, index) => {
    const id = `${prefix}-${index}${random.next() < 0.03 ? LARGE_ID : ''}`;
    const to = random.next() < 0.08 ? 'nobody' : (random.pick(['lead', 'ada', 'bo']) ?? 'lead');
    const next = random.pick(['lead', 'ada', 'bo', 'user', 'cy'].filter((name) => name !== to));
    const verb = index === dying ? 'die' : random.next() < 0.5 ? `forward ${next}` : 'keep';
    const lane: Lane = random.next() < 0.2 ? 'interrupt' : 'normal';
    return { id, to, text: textOf(`${verb} ${id}`, id), lane };
  });
}

function drawFault(disk: MemoryFiles, random: SeededRandom): void {
  const draw = random.next();
  if (draw < 0.15) {
    disk.fail({ kind: 'datasync', code: 'EIO', path: '.jsonl', after: random.below(10) });
  } else if (draw < 0.2) {
    disk.fail({ kind: 'write', code: 'EIO', path: '.jsonl', after: random.below(10) });
  } else if (draw < 0.45) {
    disk.spaceLeft = 500 + random.below(6000);
  }
  if (random.next() < 0.25) disk.writeBytesMax = 64 + random.below(900);
}
