/** Every method by every role, on a real socket: what a role may not call reaches nobody (I3, I4). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MethodName, Role } from '../../src/protocol/wire.ts';
import { METHOD_INFO } from '../../src/protocol/wire-methods.ts';
import { openWorld, type Peer, RUN, type World } from '../support/wire/world.ts';

let world: World;
let peers: Record<Role, Peer>;
let id = 10;

/** Parameters that fit each method, for the run and the actor of the token. */
const PARAMS: Readonly<Record<MethodName, object>> = {
  hello: { token: 'x', protocol: 0 },
  status: {},
  'runs.list': {},
  'tasks.list': {},
  'tasks.get': { task: 't' },
  'actors.list': {},
  'usage.get': {},
  'session.get': { actor: 'ada' },
  'mail.list': { actors: ['ada'] },
  'mail.dead': {},
  'mail.send': { to: 'ada', text: 'x', interrupt: false },
  'mail.settle': { id: 'x', what: 'dropped' },
  'events.list': {},
  'events.subscribe': {},
  'events.unsubscribe': { subscription: 'none' },
  'plans.list': {},
  'plans.decide': { id: 'p', approve: true, feedback: '' },
  'approvals.list': {},
  'approvals.answer': { id: 'a', effect: 'allow', scope: 'once', by: 'user' },
  'rules.list': {},
  'rules.revoke': { id: 'g', by: 'user' },
  'trust.list': {},
  'trust.set': { words: [] },
  'policy.rules': {},
  'policy.check': { calls: [] },
  'policy.explain': { tool: 'bash', input: {} },
  'audit.list': {},
  'audit.verify': {},
  'worktrees.list': {},
  'worktrees.clean': {},
  'diff.get': { of: 't' },
  'run.merge': { run: RUN },
  'run.get': {},
  'run.start': { teamFile: 'team.yaml', cwd: '/', attended: false },
  'run.resume': { run: 'r1' },
  'run.wait': { run: 'r1' },
  'supervisor.down': { now: true, deadlineMs: 0 },
  'run.stop': { now: false, by: 'user' },
  'actor.stop': { name: 'ada', now: false, by: 'user' },
  'cron.list': {},
  'cron.history': {},
  'cron.next': { expression: '@daily' },
  'cron.edit': { type: 'pause', name: 'nightly' },
  'actor.compact': { name: 'ada' },
  'skills.list': {},
  'skills.check': {},
  'memory.list': {},
  'doctor.examine': {},
  'team.check': { path: 'team.yaml' },
  where: {},
  why: {},
  'trace.wire': {},
  'token.issue': { run: RUN, actor: 'ada' },
};

beforeAll(async () => {
  world = await openWorld();
  world.release();
  const person = await world.greeted();
  person.send({ id: 1, method: 'token.issue', params: PARAMS['token.issue'] });
  const { token } = (await person.answer(1)).result;
  peers = {
    person,
    viewer: await world.greeted(await world.token('token.viewer')),
    actor: await world.greeted(token),
  };
});
afterAll(() => world.end());

async function call(role: Role, method: string, params: object): Promise<any> {
  id += 1;
  peers[role].send({ id, method, params });
  return peers[role].answer(id);
}

const methods = (Object.keys(METHOD_INFO) as MethodName[]).filter((name) => name !== 'hello');

describe.each(['person', 'viewer', 'actor'] as const)('%s', (role) => {
  test.each(methods)('%s', async (method) => {
    const before = world.called.length;
    const answer = await call(role, method, PARAMS[method]);
    if (METHOD_INFO[method].roles.includes(role)) {
      expect(answer.error).toBeUndefined();
    } else {
      expect(answer.error).toMatchObject({ code: -32_002, data: { code: 'ipc/role' } });
      expect(world.called).toHaveLength(before);
    }
  });
});

test('whoever may only read changes nothing, and an actor never decides', () => {
  const changing = methods.filter((name) => METHOD_INFO[name].effect === 'change');
  for (const name of changing) expect(METHOD_INFO[name].roles).toEqual(['person']);
  expect(changing).toEqual(
    expect.arrayContaining(['approvals.answer', 'trust.set', 'rules.revoke', 'run.stop']),
  );
});

test('a role is refused before its parameters are looked at', async () => {
  const answer = await call('actor', 'run.stop', { nonsense: true });
  expect(answer.error.data.code).toBe('ipc/role');
});

test('I4: a token of an actor is narrowed to its run and itself', async () => {
  await call('actor', 'mail.list', {});
  expect(world.called.at(-1)).toEqual({
    method: 'mail.list',
    params: { run: RUN, actors: ['ada'] },
  });
  const before = world.called.length;
  for (const [method, params] of [
    ['mail.list', { actors: ['ada', 'bo'] }],
    ['session.get', { actor: 'bo' }],
    ['session.get', { actor: 'ada', run: 'other' }],
    ['tasks.list', { run: 'other' }],
    ['events.subscribe', { actors: ['lead'] }],
  ] as const) {
    expect((await call('actor', method, params)).error.data.code).toBe('ipc/role');
  }
  expect(world.called).toHaveLength(before);
});

test('I4: its subscription carries its own events alone', async () => {
  const { result } = await call('actor', 'events.subscribe', {});
  world.run.happen({ actor: 'bo' });
  const own = world.run.happen({ actor: 'ada' });
  const events = (): any[] =>
    peers.actor.messages
      .filter((one) => one.params?.subscription === result.subscription)
      .map((one) => one.params.event.cursor);
  await expect.poll(events).toEqual([own.cursor]);
});

test('what the wire carried is kept without tokens and secrets', async () => {
  const secret = `sk-ant-api03-${'a1B2'.repeat(20)}`;
  await call('person', 'mail.send', { to: 'ada', text: secret, interrupt: false });
  const { result } = await call('person', 'trace.wire', {});
  const text = JSON.stringify(result);
  expect(text).toContain('"method":"mail.send"');
  expect(text).not.toContain(secret);
  expect(text).not.toContain(await world.token());
  expect(result.find((row: any) => row.method === 'run.stop' && row.role === 'actor').outcome).toBe(
    'ipc/role',
  );
});
