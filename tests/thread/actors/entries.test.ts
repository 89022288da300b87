import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import {
  type ActorHandle,
  type ActorHost,
  PoolHost,
  ThreadHost,
} from '../../../src/actors/index.ts';
import { limitWork } from '../../../src/main/threads/limit-work.ts';
import { makeOutputs } from '../../../src/main/threads/output-files.ts';
import { realInside } from '../../../src/main/threads/real-inside.ts';
import { CryptoRandom, NodeFiles, SystemClock } from '../../../src/platform/index.ts';
import type {
  ActorReply,
  ActorRequest,
  ActorStart,
  AnswerStep,
} from '../../../src/protocol/index.ts';
import { Listener, mail, startOf } from '../../support/threads/starts.ts';

let folder: string;
let hosts: ActorHost[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-entries-'));
});

afterEach(async () => {
  await Promise.all(hosts.map((host) => host.close()));
  hosts = [];
  rmSync(folder, { recursive: true });
});

const entry = (name: string): URL => pathToFileURL(`${inject('dist')}threads/${name}.js`);

const script = `version: 1
sections:
  - turns:
      - { text: Reading., calls: [{ read_file: { path: a.txt } }] }
      - { text: It says hello. }
`;

/** Answers like a supervisor that records everything. */
class Recording extends Listener {
  handle: ActorHandle | null = null;
  #seq = 0;

  override onRequests(requests: Parameters<Listener['onRequests']>[0]): void {
    super.onRequests(requests);
    for (const { id, request } of requests) {
      if (request.type === 'live') continue;
      this.#seq += 1;
      this.handle?.post([{ type: 'reply', id, reply: replyTo(request, this.#seq) }]);
    }
  }

  /** What was recorded, one line a request. */
  get steps(): string[] {
    return this.requests.flatMap(({ request }) => {
      if (request.type === 'answer') return [answerLine(request)];
      if (request.type === 'live' || request.type === 'reserve') return [];
      if (request.type !== 'result') return [request.type];
      return request.entries.map((one) => (one.type === 'result' ? `= ${one.text.trim()}` : '?'));
    });
  }
}

function replyTo(request: ActorRequest, seq: number): ActorReply {
  if (request.type === 'answer' || request.type === 'result') return { type: 'committed', seq };
  if (request.type === 'reserve') return { type: 'granted', maxTokens: request.maxTokens };
  return { type: 'noted' };
}

function answerLine({ took, entries }: AnswerStep): string {
  const text = entries.flatMap((one) =>
    one.type === 'answer'
      ? one.content.map((block) => (block.type === 'text' ? block.text : block.name))
      : [],
  );
  return `${took.join()}: ${text.join(' ')}`;
}

function launch(host: ActorHost, part: Partial<ActorStart>): Recording {
  hosts.push(host);
  writeFileSync(join(folder, 'a.txt'), 'hello\n');
  mkdirSync(join(folder, 'outputs'));
  const heard = new Recording();
  heard.handle = host.start(
    {
      ...startOf(''),
      scripts: { 'scripted/x': script },
      tools: ['read_file'],
      limits: { parallel: 1, turns: 10, depth: 1, fanout: 1 },
      journalDirectory: join(folder, 'journal'),
      outputsDirectory: join(folder, 'outputs'),
      workplace: { task: null, root: folder, writable: false, fence: 0 },
      prompt: null,
      ...part,
    },
    heard,
  );
  return heard;
}

test('a teammate works on its mail in a thread of its own and rests until it is stopped', async () => {
  const heard = launch(new ThreadHost({ entry: entry('actor') }), {});
  heard.handle?.post([mail(1, 'read a.txt')]);
  await heard.until(() => heard.steps.includes(': It says hello.'));
  await heard.until(() => heard.steps.at(-1) === 'idle');
  expect(heard.steps.filter((step) => step !== 'idle')).toEqual([
    'delivered',
    '1: Reading. read_file',
    expect.stringMatching(/^= .*hello/),
    ': It says hello.',
  ]);

  await heard.handle?.stop(20_000);
  expect(heard.exits).toEqual([{ kind: 'finished' }]);
});

test('a subagent does its one job on the pool and ends with its answer', async () => {
  const heard = launch(new PoolHost({ entry: entry('subagent') }), {
    kind: 'subagent',
    prompt: 'read a.txt',
  });
  expect(await heard.exit()).toEqual({ kind: 'finished', text: 'It says hello.' });
});

test('a model that can’t be had ends the actor with the code of the reason', async () => {
  const heard = launch(new ThreadHost({ entry: entry('actor') }), { model: 'scripted/other' });
  expect(await heard.exit()).toMatchObject({ kind: 'crashed', code: 'providers/no-script' });
});

describe('what file tools work over', () => {
  test.each([
    ['a.txt', 'a.txt'],
    ['./x/../a.txt', 'a.txt'],
    ['new/deep/file', 'new/deep/file'],
    ['in', 'a.txt'],
    ['', ''],
  ])('%s is really %s', async (path, expected) => {
    writeFileSync(join(folder, 'a.txt'), '');
    symlinkSync('a.txt', join(folder, 'in'));
    expect(await realInside(folder, path)).toBe(expected);
  });

  test.each(['../x', '/etc/passwd', 'out/x', 'out', 'dangling', 'dangling/x'])(
    '%s leads outside',
    async (path) => {
      symlinkSync('/etc', join(folder, 'out'));
      symlinkSync('/no/such/place', join(folder, 'dangling'));
      await expect(realInside(folder, path)).rejects.toMatchObject({ code: 'path/outside' });
    },
  );

  test('an output is whole, private, and read back by the path that was shown', async () => {
    const deps = { files: new NodeFiles(), clock: new SystemClock(), random: new CryptoRandom() };
    const outputs = makeOutputs({ ...deps, directory: folder });
    const { path } = await outputs.save('héllo'.repeat(10_000));
    const name = path.replace('outputs/', '');
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(await outputs.read(path, 6)).toEqual({
      bytes: new TextEncoder().encode('héllo'),
      size: 60_000,
    });
    expect(await outputs.read('outputs/none.log', 6)).toBeNull();
    expect(await outputs.read(`outputs/../${name}`, 6)).toBeNull();
  });

  test('work that does not end is cut', () => {
    expect(limitWork(() => /^(a+)+$/.test(`${'a'.repeat(60)}!`), 50)).toBe(false);
    const done: number[] = [];
    expect(limitWork(() => done.push(1), 50)).toBe(true);
    expect(done).toEqual([1]);
    expect(() => limitWork(() => JSON.parse('{'), 50)).toThrow(SyntaxError);
  });
});
