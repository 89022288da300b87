/**
 * Real power cuts: a journal is written on a file system in an image; the writer is stopped in the middle, the image is
 * copied (what was not synced is in memory only, and stays behind), the copy is mounted and recovered, and every record
 * that was acknowledged must be in it. Needs root and loop mounts. `npm run powercut -- --cuts N` makes N of each kind.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { openJournal, verifyJournal } from '../../src/journal/index.ts';
import { CryptoRandom, NodeFiles, SystemClock } from '../../src/platform/index.ts';
import { SeededRandom } from '../../src/testing/seeded-random.ts';

const CUTS = Number(process.env['TROUPE_CUTS'] ?? '2');
const seed = process.env['TROUPE_SEED'] ?? String(process.hrtime.bigint());
const random = new SeededRandom(seed);
const WRITER = fileURLToPath(new URL('../support/journal/writer.mjs', import.meta.url));

interface Kind {
  readonly name: string;
  readonly mkfs: readonly string[];
  readonly imageMib: number;
}

const KINDS: readonly Kind[] = [
  { name: 'ext4', mkfs: ['mkfs.ext4', '-q', '-F', '-m', '0'], imageMib: 48 },
  { name: 'xfs', mkfs: ['mkfs.xfs', '-q', '-f'], imageMib: 320 },
  { name: 'btrfs', mkfs: ['mkfs.btrfs', '-q', '-f'], imageMib: 160 },
];

const root = mkdtempSync(join(tmpdir(), 'troupe-cut-'));
const mounted = new Set<string>();
let images = 0;
let cuts = 0;

afterAll(() => {
  for (const place of mounted) call('umount', '-l', place);
  rmSync(root, { recursive: true, force: true });
});

/** Null when it worked, else what stands in the way. */
function call(file: string, ...args: string[]): string | null {
  const done = spawnSync(file, args, { encoding: 'utf8' });
  if (done.error !== undefined) return done.error.message;
  return done.status === 0 ? null : `${file}: ${done.stderr.trim() || `exit ${done.status}`}`;
}

function mount(image: string): string {
  images += 1;
  const place = join(root, `mount-${images}`);
  mkdirSync(place);
  const wrong = call('mount', '-o', 'loop', image, place);
  if (wrong !== null) throw new Error(wrong);
  mounted.add(place);
  return place;
}

function unmount(place: string): void {
  const wrong = call('umount', place);
  if (wrong !== null) throw new Error(wrong);
  mounted.delete(place);
}

/** An empty file system, or why there is none. */
function makeImage(kind: Kind): { readonly image: string } | { readonly why: string } {
  if (process.getuid?.() !== 0) return { why: 'it needs root' };
  const image = join(root, `${kind.name}.img`);
  const file = openSync(image, 'w');
  ftruncateSync(file, kind.imageMib * 1024 * 1024);
  closeSync(file);
  const [mkfs = '', ...args] = kind.mkfs;
  const wrong = call(mkfs, ...args, image);
  if (wrong !== null) return { why: wrong };
  try {
    unmount(mount(image));
    return { image };
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}

interface Writer {
  readonly child: ChildProcess;
  readonly lines: string[];
  readonly ended: Promise<void>;
  /** Resolves when so many records were acknowledged. */
  acknowledged(count: number): Promise<void>;
}

function startWriter(directory: string, fault: string): Writer {
  const child = spawn(process.execPath, [WRITER, directory, fault], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  let rest = '';
  let check: () => void = () => undefined;
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    check();
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  return {
    child,
    lines,
    ended,
    acknowledged: (count) =>
      new Promise((resolve, reject) => {
        check = () => (lines.length >= count ? resolve() : undefined);
        child.once('close', () => reject(new Error('the writer ended')));
        check();
      }),
  };
}

/** Every thread of it stands still. */
function isStopped(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
  });
}

/** The power goes after so many acknowledgements; returns those that the disk must keep, and the disk. */
async function cut(
  kind: Kind,
  empty: string,
  fault: string,
): Promise<{ lines: readonly string[]; image: string }> {
  // New files each time: a loop device that is not gone yet would show what it has in memory of the last ones.
  cuts += 1;
  const image = join(root, `${kind.name}-live-${cuts}.img`);
  copyFileSync(empty, image);
  const place = mount(image);
  const writer = startWriter(join(place, 'journal'), fault);
  await writer.acknowledged(1 + random.below(600));
  const { pid } = writer.child;
  if (pid === undefined) throw new Error('the writer did not start');
  process.kill(pid, 'SIGSTOP');
  while (!isStopped(pid)) await turn();
  const left = join(root, `${kind.name}-left-${cuts}.img`);
  copyFileSync(image, left);
  writer.child.kill('SIGKILL');
  await writer.ended;
  unmount(place);
  rmSync(image);
  return { lines: writer.lines, image: left };
}

/** Acknowledged records that are gone or others, after recovery. */
async function lostIn(image: string, lines: readonly string[]): Promise<string[]> {
  const place = mount(image);
  try {
    const directory = join(place, 'journal');
    const found = new Map<number, string>();
    const files = new NodeFiles();
    const journal = await openJournal({
      files,
      clock: new SystemClock(),
      random: new CryptoRandom(),
      directory,
      name: 'cut',
      limits: { reserveBytes: 64 * 1024 },
      onRecord: ({ s, text }) => found.set(s, String(text)),
    });
    const gaps = journal.report.gaps.map((gap) => `gap ${JSON.stringify(gap)}`);
    await journal.append({ k: 'msg', to: 'ada', text: 'after the cut' }).durable;
    await journal.close();
    const { problems } = await verifyJournal({ files, directory });
    const lost = lines.filter((line) => {
      const [seq = '', text] = line.split(' ');
      return found.get(Number(seq)) !== text;
    });
    return [...gaps, ...lost, ...problems.map(({ detail }) => detail)];
  } finally {
    unmount(place);
    rmSync(image);
  }
}

describe.each(KINDS)('power cuts on $name', (kind) => {
  const made = makeImage(kind);
  if ('why' in made) {
    test.skip(`skipped: no file system in an image can be mounted here (${made.why})`, () =>
      undefined);
    return;
  }

  test(`J8 J12: ${CUTS} cuts lose nothing that was acknowledged (TROUPE_SEED=${seed})`, {
    timeout: 60_000 + CUTS * 20_000,
  }, async () => {
    let checked = 0;
    for (let count = 0; count < CUTS; count += 1) {
      const { lines, image } = await cut(kind, made.image, 'none');
      expect(await lostIn(image, lines), `cut ${count} of TROUPE_SEED=${seed}`).toEqual([]);
      checked += lines.length;
    }
    process.stdout.write(`${kind.name}: ${CUTS} cuts, ${checked} acknowledged records checked\n`);
  });

  test('a cut does lose what is never synced: without syncs it is noticed', {
    timeout: 120_000,
  }, async () => {
    let lost = 0;
    for (let count = 0; count < 6 && lost === 0; count += 1) {
      const { lines, image } = await cut(kind, made.image, 'no-sync');
      lost = (await lostIn(image, lines)).length;
    }
    expect(lost).toBeGreaterThan(0);
  });
});
