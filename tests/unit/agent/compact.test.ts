import { describe, expect, test } from 'vitest';
import { asCallId } from '../../../src/kernel/index.ts';
import type {
  ContentBlock,
  Provider,
  ProviderEvent,
  ProviderRequest,
  SessionEntry,
} from '../../../src/protocol/index.ts';
import { World } from './world.ts';

type Compaction = Extract<SessionEntry, { type: 'compaction' }>;
type Call = Extract<ContentBlock, { type: 'call' }>;

/** Four bytes are a token, and the API of this model takes so many. */
const tokensOf = (request: ProviderRequest): number =>
  Math.ceil(
    (request.system.length +
      JSON.stringify(request.tools).length +
      JSON.stringify(request.messages).length) /
      4,
  );

interface Model {
  readonly provider: Provider;
  readonly requests: ProviderRequest[];
  readonly summaries: ProviderRequest[];
}

interface ModelOptions {
  /** Turns that it makes before it completes its task. */
  readonly turns: number;
  readonly takes?: number;
  readonly summary?: () => ProviderEvent | null;
  readonly call?: (turn: number) => Omit<Call, 'type' | 'id'>;
}

const TOOLS_TOKENS = 4600;

function makeModel(options: ModelOptions): Model {
  const requests: ProviderRequest[] = [];
  const summaries: ProviderRequest[] = [];
  let turn = 0;
  let ids = 0;
  const end = (request: ProviderRequest, content: ContentBlock[]): ProviderEvent => ({
    type: 'end',
    content,
    stop: content.some((block) => block.type === 'call') ? 'calls' : 'end',
    usage: {
      inputTokens: Math.ceil(tokensOf(request) / 2),
      outputTokens: 20,
      // Most of a long conversation is read from the cache: it counts all the same.
      cacheReadTokens: Math.floor(tokensOf(request) / 2),
      cacheWriteTokens: 0,
      costUsd: 0.01,
      estimated: false,
    },
  });
  async function* stream(request: ProviderRequest): AsyncGenerator<ProviderEvent> {
    await Promise.resolve();
    const tokens = tokensOf(request);
    if (tokens > (options.takes ?? Number.POSITIVE_INFINITY)) {
      const message = `prompt is too long: ${tokens} tokens > ${options.takes} maximum`;
      yield { type: 'error', code: 'providers/context-overflow', message, retryable: false };
      return;
    }
    if (request.purpose === 'summary') {
      summaries.push(request);
      const own = options.summary?.() ?? null;
      yield own ?? end(request, [{ type: 'text', text: `Summary ${summaries.length}.` }]);
      return;
    }
    requests.push(request);
    turn += 1;
    ids += 1;
    const id = asCallId(`c${ids}`);
    const call =
      turn > options.turns
        ? { name: 'complete_task', input: { summary: 'done' } }
        : (options.call?.(turn) ?? { name: 'bash', input: { command: `step ${turn}` } });
    yield end(request, [
      { type: 'text', text: `Turn ${turn}.` },
      { type: 'call', id, ...call },
    ]);
  }
  return { provider: { name: 'test', stream }, requests, summaries };
}

function open(model: Model, context: { window: number; compactAt: number }): World {
  const world = new World({ model: model.provider, context, turns: 200 });
  world.onBash = async (command) => ({ ok: true, text: `${command}: ${'out '.repeat(300)}` });
  world.assign('parser', 'Fix the parser; never touch the lexer.');
  return world;
}

function compactions(world: World): Compaction[] {
  return world.journal.flatMap(({ entry }) => (entry.type === 'compaction' ? [entry] : []));
}

const textOf = (request: ProviderRequest): string => JSON.stringify(request.messages);

describe('before the window is full', () => {
  test('L26: the model sums up the older turns; task, team, notes and the newest turn stay', async () => {
    const call = (turn: number): Omit<Call, 'type' | 'id'> => {
      if (turn === 1) return { name: 'note_save', input: { text: 'the port is 4711' } };
      if (turn === 2) {
        const items = [{ text: 'write the test', state: 'doing' }];
        return { name: 'todo_write', input: { items } };
      }
      return { name: 'bash', input: { command: `step ${turn}` } };
    };
    const model = makeModel({ turns: 70, call });
    const world = open(model, { window: TOOLS_TOKENS + 8000, compactAt: 0.8 });
    expect(await world.settle()).toBe('resting');
    expect(world.effects.at(-1)).toBe('complete_task');
    const made = compactions(world);
    expect(made.length).toBeGreaterThan(2);
    for (const one of made) {
      expect(one).toMatchObject({ cause: 'threshold', by: 'model', task: 'parser' });
      expect(one.after).toBeLessThan(one.before * 0.75);
    }
    // What the model was asked never was longer than it takes.
    for (const request of [...model.requests, ...model.summaries]) {
      expect(tokensOf(request) + request.maxTokens).toBeLessThan(TOOLS_TOKENS + 8000);
    }
    for (const request of model.summaries) {
      expect(request.tools).toEqual([]);
      expect(request.messages).toHaveLength(1);
    }
    // The second summary is made of the first, and of the newest turns.
    expect(textOf(model.summaries[1] as ProviderRequest)).toContain('Summary 1.');
    const last = textOf(model.requests.at(-1) as ProviderRequest);
    expect(last).toContain('never touch the lexer');
    expect(last).toContain(`Summary ${made.length}.`);
    expect(last).not.toContain('Summary 1.');
    expect(last).toContain('the port is 4711');
    expect(last).toContain('[~] write the test');
    expect(last).toContain('- bo: teammate');
    expect(last).toContain('step 70');
    expect(last).not.toContain('step 3:');
  });

  test('L25: between two compactions requests only grow', async () => {
    const model = makeModel({ turns: 30 });
    const world = open(model, { window: TOOLS_TOKENS + 8000, compactAt: 0.8 });
    await world.settle();
    let resets = 0;
    for (const [at, request] of model.requests.entries()) {
      const before = model.requests[at - 1];
      if (before === undefined) continue;
      const same = textOf(request).startsWith(textOf(before).slice(0, -1));
      if (!same) resets += 1;
    }
    expect(resets).toBe(compactions(world).length);
  });

  test('without a summary of the model the turns themselves are told shortly', async () => {
    const summary = (): ProviderEvent => ({
      type: 'error',
      code: 'providers/bad-request',
      message: 'no',
      retryable: false,
    });
    const model = makeModel({ turns: 30, summary });
    const world = open(model, { window: TOOLS_TOKENS + 8000, compactAt: 0.8 });
    expect(await world.settle()).toBe('resting');
    expect(compactions(world).every((one) => one.by === 'digest')).toBe(true);
    expect(compactions(world)[0]?.summary).toContain('CALLED bash {"command":"step 2"}');
    expect(world.effects.at(-1)).toBe('complete_task');
  });

  test('a used-up quota is not covered up by a digest', async () => {
    const summary = (): ProviderEvent => ({
      type: 'error',
      code: 'providers/quota',
      message: 'used up',
      retryable: false,
    });
    const model = makeModel({ turns: 30, summary });
    const world = open(model, { window: TOOLS_TOKENS + 8000, compactAt: 0.8 });
    await world.settle();
    // It waits for leave to ask again.
    expect(world.log.at(-1)).toBe('quota used up');
    expect(compactions(world)).toEqual([]);
  });

  test('large results of the last turn are cut, and can be read back', async () => {
    const model = makeModel({
      turns: 8,
      call: (turn) =>
        turn === 8
          ? { name: 'read_file', input: { path: 'outputs/out_1.log' } }
          : { name: 'bash', input: { command: `step ${turn}` } },
    });
    const world = open(model, { window: TOOLS_TOKENS + 7000, compactAt: 0.8 });
    world.onBash = async (command) => ({
      ok: true,
      text: `${command} ${'x'.repeat(command === 'step 5' ? 15_000 : 3000)} the end`,
    });
    await world.settle();
    const cut = compactions(world).flatMap((one) => one.cut);
    expect(cut.map(({ output }) => output)).toContain('outputs/out_1.log');
    const [whole] = world.outputs.saved.values();
    expect(whole).toContain('the end');
    const read = world.journal.findLast(
      ({ entry }) => entry.type === 'result' && entry.tool === 'read_file',
    );
    expect(read?.entry).toMatchObject({ ok: true });
  });
});

describe('when the model says that it is too long', () => {
  test('it is compacted, asked again, and its window is remembered over a restart', async () => {
    const takes = TOOLS_TOKENS + 5000;
    const model = makeModel({ turns: 40, takes });
    const world = open(model, { window: 200_000, compactAt: 0.8 });
    world.crashes = [{ at: 60, when: 'after' }];
    expect(await world.settle()).toBe('resting');
    expect(world.effects.at(-1)).toBe('complete_task');
    expect(world.incarnations).toBe(2);
    const made = compactions(world);
    expect(made[0]).toMatchObject({ cause: 'overflow', window: takes });
    // From then on it does not come to that.
    expect(made.slice(1).map((one) => one.cause)).toEqual(made.slice(1).map(() => 'threshold'));
    expect(made.length).toBeGreaterThan(2);
  });

  test('L27: what can not be made to fit ends with a reason, not in a circle', async () => {
    const model = makeModel({ turns: 40, takes: 1000 });
    const world = open(model, { window: 200_000, compactAt: 0.8 });
    await world.settle();
    expect(world.log.at(-1)).toContain('stuck agent/context-full: prompt is too long');
    expect(model.summaries).toEqual([]);
  });

  test('L27: a request that nothing can be left out of is not sent', async () => {
    const model = makeModel({ turns: 2 });
    const world = open(model, { window: 3000, compactAt: 0.8 });
    world.send('a'.repeat(20_000));
    await world.settle();
    expect(world.log.at(-1)).toContain('stuck agent/context-full: ada');
    expect(model.requests).toEqual([]);
  });
});

describe('when somebody asks', () => {
  test('the agent itself, by its tool: once, before its next answer', async () => {
    const model = makeModel({
      turns: 6,
      call: (turn) =>
        turn === 4
          ? { name: 'compact', input: { focus: 'the exit codes' } }
          : { name: 'bash', input: { command: `step ${turn}` } },
    });
    const world = open(model, { window: 200_000, compactAt: 0.8 });
    world.crashes = [{ at: 12, when: 'before' }];
    await world.settle();
    expect(compactions(world)).toMatchObject([
      { cause: 'asked', focus: 'the exit codes', turns: 3 },
    ]);
    expect(textOf(model.summaries.at(-1) as ProviderRequest)).toContain('the exit codes');
    expect(world.effects.at(-1)).toBe('complete_task');
  });

  test('the user, while it has nothing to do: no answer is asked for', async () => {
    const model = makeModel({ turns: 5 });
    const world = open(model, { window: 200_000, compactAt: 0.8 });
    await world.settle();
    const asked = model.requests.length;
    world.wantCompaction({ focus: null });
    await world.compacted();
    expect(compactions(world)).toMatchObject([{ cause: 'asked', turns: 5 }]);
    expect(model.requests).toHaveLength(asked);
    await world.stop();
  });
});

test('L26: after a crash at any boundary round a compaction the story ends the same', async () => {
  const story = async (
    crash: { at: number; when: 'before' | 'after' } | null,
  ): Promise<unknown> => {
    const model = makeModel({ turns: 20 });
    const world = open(model, { window: TOOLS_TOKENS + 4500, compactAt: 0.8 });
    if (crash !== null) world.crashes = [crash];
    expect(await world.settle()).toBe('resting');
    expect(new Set(world.ran).size).toBe(world.ran.length);
    expect(world.allSeen()).toBe(true);
    expect(compactions(world).length).toBeGreaterThan(0);
    for (const request of model.requests)
      expect(textOf(request)).toContain('never touch the lexer');
    return world.effects.at(-1);
  };
  for (let at = 8; at <= 40; at += 1) {
    for (const when of ['before', 'after'] as const) {
      expect(await story({ at, when }), `crash ${when} ${at}`).toBe('complete_task');
    }
  }
});
