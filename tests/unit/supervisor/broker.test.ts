/** The guards between a call and its effect, through the decisions of the supervisor: each is the test of a mutant. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { asActorName, asCallId } from '../../../src/kernel/index.ts';
import { factsOfCall, openAsks, teamLayer } from '../../../src/permissions/index.ts';
import type { CallFacts, Hook, PermissionRule, RunFile } from '../../../src/protocol/index.ts';
import { judgeFor } from '../../../src/supervisor/decide/judging.ts';
import type { Effect } from '../../../src/supervisor/effect.ts';
import type { HookSaid } from '../../../src/supervisor/hooks.ts';
import { runFile, task, team } from '../../support/team.ts';
import { TeamWorld, TIP } from '../../support/team-world.ts';

const rule = (effect: 'allow' | 'deny' | 'ask', name: string): PermissionRule => ({
  id: `${effect}-${name}`,
  effect,
  tool: 'bash',
  argv: [name],
  reason: null,
});
const RULES = [rule('deny', 'nope'), rule('ask', 'perhaps'), rule('allow', 'fine')];

function fileOf(attended: boolean): RunFile {
  const permissions = { default: 'ask', rules: RULES, askTimeoutMs: 60_000 } as const;
  return {
    ...runFile({
      id: 'r1',
      team: team({ teammates: ['ada'], tasks: [task({ id: 'a' })], permissions }),
      baseCommit: TIP,
      workspace: '/w',
      treesRoot: '/t',
    }),
    attended,
  };
}

/** `ada` works on its task. */
function world(attended = true): TeamWorld {
  const made = new TeamWorld(fileOf(attended));
  made.answer('ada');
  return made;
}

const ADA = asActorName('ada');
let calls = 0;

/** A call of `ada` with what the disk says of it. */
function bash(at: TeamWorld, command: string, disk?: CallFacts): string {
  calls += 1;
  const call = asCallId(`broker_${calls}`);
  const { incarnation = 1, epoch = 1 } = at.live.actors.get(ADA) ?? {};
  const request = { type: 'act', call, tool: 'bash', input: { command } } as const;
  at.effects = at.step({
    type: 'request',
    name: ADA,
    incarnation,
    epoch,
    upward: { id: 1_000 + calls, request },
    ...(disk === undefined ? {} : { disk }),
  });
  return call;
}

function answer(at: TeamWorld, id: string, effect: 'allow' | 'deny'): Effect[] {
  const given = {
    id,
    digest: null,
    effect,
    scope: 'once',
    days: 7,
    by: 'user',
    reason: null,
  } as const;
  return at.step({ type: 'ask.answer', token: 1, ...given });
}

const ran = (at: TeamWorld): string[] =>
  at.records.flatMap((record) =>
    (record.procs ?? []).flatMap((one) => (one.type === 'proc.started' ? [one.command] : [])),
  );

function decisionOf(at: TeamWorld, call: string): string | null {
  const all = at.records.flatMap((record) => record.decisions ?? []);
  return all.find((one) => one.call === call)?.effect ?? null;
}

const asksOpen = (at: TeamWorld) => openAsks(at.state.asks);

test('P14: what runs is what was read, each word by itself; what a person allowed runs as it was given', () => {
  const at = world();
  bash(at, 'fine "a b"   c # a word');
  expect(ran(at)).toHaveLength(1);
  expect(ran(at)[0]).not.toContain('#');
  expect(ran(at)[0]?.replaceAll("'", '').trim()).toBe('fine a b c');
  bash(at, 'other  x # y');
  answer(at, asksOpen(at)[0]?.id ?? '', 'allow');
  expect(ran(at)[1]).toBe('other  x # y');
});

test('P15: a link that comes between the answer and the call makes it another question', () => {
  const at = world();
  const facts = (to: string): CallFacts => ({
    paths: new Proxy(
      {},
      {
        getOwnPropertyDescriptor: (_target, name) => ({
          configurable: true,
          enumerable: true,
          value: {
            path: String(name).replace('/dir/', `/${to}/`),
            kind: String(name).endsWith('.txt') ? 'missing' : 'directory',
            links: 1,
          },
        }),
        get: (_target, name) => ({
          path: String(name).replace('/dir/', `/${to}/`),
          kind: String(name).endsWith('.txt') ? 'missing' : 'directory',
          links: 1,
        }),
      },
    ),
    pins: {},
  });
  bash(at, 'touch dir/a.txt', facts('dir'));
  const [first] = asksOpen(at);
  expect(first?.touches).toContain('writes ./dir/a.txt');
  // The answer found all as it was; just before the call goes on it is not so any more.
  at.seen = (event) => (event.type === 'call.looked' ? { ...event, disk: facts('other') } : event);
  answer(at, first?.id ?? '', 'allow');
  expect(ran(at)).toEqual([]);
  const [second] = asksOpen(at);
  expect(second?.id).not.toBe(first?.id);
  expect(second?.touches).toContain('writes ./other/a.txt');
});

test('P7: a look that fails makes a path nobody’s: it is not allowed, and it does not end the supervisor', () => {
  const disk = {
    look: (): never => {
      throw new Error('EIO');
    },
    hash: (): never => {
      throw new Error('EIO');
    },
  };
  const session = { actor: 'ada', root: '/t/a', home: null, attended: true };
  const call = { tool: 'bash', input: { command: 'fine > out.txt' } };
  const facts = factsOfCall(call, session, { pins: { 'package.json': 'h' }, disk });
  expect(facts.pins).toEqual({ 'package.json': null });
  expect(Object.values(facts.paths).map(({ kind }) => kind)).toContain('special');
  expect(Object.values(facts.paths).map(({ kind }) => kind)).not.toContain('missing');
  const at = world();
  const id = bash(at, 'fine > out.txt', facts);
  expect(decisionOf(at, id)).not.toBe('allow');
  expect(ran(at)).toEqual([]);
});

test('P30: what a subagent of a subagent asks is shown like any other ask, with who it works for', () => {
  const at = world();
  at.begin('ada', 'task', { prompt: 'look' });
  const [first] = [...at.live.actors.keys()].filter((name) => name !== 'ada');
  at.begin(first ?? '', 'task', { prompt: 'look closer' });
  const second = [...at.live.actors.keys()].find((name) => name !== 'ada' && name !== first);
  at.begin(second ?? '', 'bash', { command: 'other' });
  const [ask] = asksOpen(at);
  expect(ask?.waiters[0]?.ancestry).toEqual(['ada', first, second]);
  expect(at.letters('permission.ask')).toHaveLength(1);
});

test('P30: nobody answers in time: denied, and the actor goes on', () => {
  const at = world();
  const call = bash(at, 'other');
  at.pass(59_000);
  expect(asksOpen(at)).toHaveLength(1);
  at.pass(2_000);
  expect(asksOpen(at)).toEqual([]);
  expect(decisionOf(at, call)).toBe('deny');
});

test.each([
  ['allow', 1],
  ['deny', 0],
] as const)(
  'P30: a call that comes back after a restart, and that rules %s by now, asks nobody any more',
  (effect, runs) => {
    const at = world();
    const call = bash(at, 'other');
    const [ask] = asksOpen(at);
    at.restart();
    const layer = teamLayer({ default: 'ask', rules: [rule(effect, 'other')] }, null);
    at.live.policy = { revision: 'next', layers: [layer], pins: {} };
    calls -= 1;
    expect(bash(at, 'other')).toBe(call);
    expect(decisionOf(at, call)).toBe(effect);
    expect(ran(at)).toHaveLength(runs);
    expect(asksOpen(at)).toEqual([]);
    expect(at.state.asks.ended.get(ask?.id ?? '')).toMatchObject({ how: 'withdrawn' });
    // A person who answers now is told so, and nothing runs a second time.
    const effects = answer(at, ask?.id ?? '', 'allow');
    expect(effects.find((one) => one.type === 'refuse')).toMatchObject({
      error: { code: 'ask/answered' },
    });
    expect(ran(at)).toHaveLength(runs);
  },
);

test('P33: a grant for the workspace that a crash kept from its journal is written by the next term, once', () => {
  const at = world();
  bash(at, 'other');
  const given = { digest: null, effect: 'allow', scope: 'workspace', days: 7 } as const;
  const id = asksOpen(at)[0]?.id ?? '';
  at.step({ type: 'ask.answer', token: 1, id, by: 'user', reason: null, ...given });
  const keeps = (): string[] =>
    at.effects.flatMap((one) => (one.type === 'grant.keep' ? [one.grant.id] : []));
  const [grant = ''] = keeps();
  expect(grant).toMatch(/^grant_/);
  at.restart();
  expect(keeps()).toEqual([grant]);
  at.step({ type: 'rules.changed', kept: grant });
  at.restart();
  expect(keeps()).toEqual([]);
});

const HOOK: Hook = {
  id: 'h1',
  on: 'before_tool',
  tools: null,
  run: 'true',
  timeoutMs: 1_000,
  origin: 'config',
};

/** The hooks that run now have this to say; false when none run. */
function say(at: TeamWorld, word: HookSaid, input: unknown): boolean {
  const run = at.effects.find((effect) => effect.type === 'hooks.run');
  if (run?.type !== 'hooks.run' || run.work.request === undefined) return false;
  const { name, incarnation, epoch, id, asked, pass } = run.work.request;
  at.step({
    type: 'request',
    name,
    incarnation,
    epoch,
    upward: { id, request: { ...asked, input } },
    hooked: {
      work: run.work.id,
      pass: pass + (word.outcome === 'rewrite' ? 1 : 0),
      said: [word],
    },
  });
  return true;
}

test('P41: what a hook wrote is a new call: rules and hooks look at it from the start', () => {
  const at = world();
  (at.live.hooks as Hook[]).push(HOOK);
  const first = bash(at, 'fine');
  const wrote = { command: 'fine too' };
  expect(say(at, { hook: 'h1', outcome: 'rewrite', input: wrote, ms: 1 }, wrote)).toBe(true);
  expect(ran(at)).toEqual([]);
  expect(say(at, { hook: 'h1', outcome: 'none', ms: 1 }, wrote)).toBe(true);
  expect(ran(at).map((text) => text.replaceAll("'", '').trim())).toEqual(['fine too']);
  expect(decisionOf(at, first)).toBe('allow');
  const denied = { command: 'nope' };
  const second = bash(at, 'fine');
  say(at, { hook: 'h1', outcome: 'rewrite', input: denied, ms: 1 }, denied);
  expect(decisionOf(at, second)).toBe('deny');
});

test('P40: a hook that wants a denied call asked about does not get it asked about', () => {
  const at = world();
  const happening = { event: { type: 'asks.due' } as const, now: at.now, monotonicMs: 0 };
  const who = { state: at.state, live: at.live, happening, actor: { name: ADA } };
  for (const command of COMMANDS) {
    const call = { tool: 'bash', input: { command } };
    const bare = judgeFor(who, call);
    for (const action of ['ask', 'deny'] as const) {
      const tightened = { action, rule: 'hook:h1', reason: 'it wants it' };
      const judged = judgeFor({ ...who, tightened }, call);
      expect(STRICT[judged.action], `${command} ${action}`).toBe(
        Math.max(STRICT[bare.action], STRICT[action]),
      );
      if (judged.action === 'ask') expect(judged.offer()).toBeNull();
    }
  }
});

const STRICT = { allow: 0, ask: 1, deny: 2 } as const;
const COMMANDS = ['fine', 'nope', 'perhaps', 'other', 'fine; nope', 'cat ~/.ssh/id_rsa'];
const said: fc.Arbitrary<HookSaid> = fc.record({
  hook: fc.constantFrom('h1', 'h2'),
  outcome: fc.constantFrom('deny', 'ask', 'failed', 'none', 'rewrite'),
  input: fc.constantFrom(...COMMANDS).map((command) => ({ command })),
  ms: fc.constant(1),
});

/** What became of a call: `ask` when it waits for a person. */
function outcomeOf(at: TeamWorld, call: string): 'allow' | 'ask' | 'deny' {
  if (at.state.asks.byCall.has(asCallId(call))) return 'ask';
  return decisionOf(at, call) === 'allow' ? 'allow' : 'deny';
}

test('P40: whatever hooks say, a call is never freer than the rules have it, and what they wrote is judged like any input', () => {
  fc.assert(
    fc.property(
      fc.boolean(),
      fc.constantFrom(...COMMANDS),
      fc.array(said, { maxLength: 4 }),
      (attended, command, words) => {
        const at = world(attended);
        (at.live.hooks as Hook[]).push(HOOK);
        const call = bash(at, command);
        let input: unknown = { command };
        let heard: string | null = null;
        for (const word of words) {
          const wanted = word.outcome === 'rewrite' ? word.input : input;
          if (!say(at, word, wanted)) break;
          input = wanted;
          heard = word.outcome;
        }
        // Still with its hooks: nothing of it runs.
        if (at.live.hooking.has(asCallId(call))) {
          expect(ran(at)).toEqual([]);
          return;
        }
        const who = { state: at.state, live: at.live, actor: { name: ADA } };
        const happening = { event: { type: 'asks.due' } as const, now: at.now, monotonicMs: 0 };
        const bare = judgeFor({ ...who, happening }, { tool: 'bash', input });
        const outcome = outcomeOf(at, call);
        expect(STRICT[outcome], `${command} → ${JSON.stringify(input)}`).toBeGreaterThanOrEqual(
          STRICT[bare.action],
        );
        if (heard === 'failed') expect(outcome).not.toBe('allow');
        expect(ran(at)).toHaveLength(outcome === 'allow' ? 1 : 0);
      },
    ),
    { numRuns: 300 },
  );
});
