/** Conversations that grow past what their model takes, through the built command line and a real HTTP line. */
import { afterEach, describe, expect, test } from 'vitest';
import type { SessionAnswer } from '../../src/control/index.ts';
import type { CompactionEntry, TaskRow, TroupeEvent } from '../../src/protocol/index.ts';
import { begin, KEY, reach } from '../support/model-line.ts';
import type { ModelAnswer } from '../support/model-server/answer.ts';
import { ModelServer, type Seen } from '../support/model-server/server.ts';
import { makeWorld, type World } from './cli-world.ts';

const worlds: World[] = [];
const servers: ModelServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  for (const world of worlds.splice(0)) world.remove();
});

const TEAM = (model: string): string => `version: 1
name: long
goal: Count to the end
model: ${model}
members: { lead: { agent: lead }, teammates: [{ name: ada, agent: implementer }] }
tasks: [{ id: count, prompt: 'Count to the end; the word is ORCHID.', attempts: 1 }]
permissions: { default: allow }
`;

const TURNS = 30;
const MODELS = { anthropic: 'anthropic/claude-sonnet-5-5', openai: 'openai/some-model' } as const;

/** Long outputs, one after the other, then the end; its position is its own memory, since requests forget. */
function story(onTurn: (turn: number) => void = () => undefined): (seen: Seen) => ModelAnswer {
  let turn = 0;
  return (seen) => {
    if (seen.system.startsWith('You sum up')) {
      return { text: `Goal: count, the word is ORCHID. ${turn} steps are done.` };
    }
    if (seen.actor === 'lead') return { text: 'Good.' };
    turn += 1;
    onTurn(turn);
    if (turn <= TURNS) {
      const command = `echo step-${turn}; seq 1 400`;
      return {
        thinking: 'On.',
        text: `Step ${turn}.`,
        calls: [{ tool: 'bash', input: { command } }],
      };
    }
    return turn === TURNS + 1
      ? { calls: [{ tool: 'complete_task', input: { summary: 'counted' } }] }
      : { text: 'Done.' };
  };
}

async function open(options: ConstructorParameters<typeof ModelServer>[0]) {
  const server = new ModelServer({ key: KEY, ...options });
  await server.listen();
  servers.push(server);
  const world = makeWorld();
  worlds.push(world);
  return { world, server };
}

function sessionOf(world: World): SessionAnswer {
  return JSON.parse(world.troupe('session', 'ada', '--json').stdout) as SessionAnswer;
}

function compactionsIn(session: SessionAnswer): CompactionEntry[] {
  return session.entries.flatMap((row) => (row.type === 'compaction' ? [row] : []));
}

describe.each(['anthropic', 'openai'] as const)('%s', (dialect) => {
  test('a story that is several windows long comes to its end, with its goal kept', async () => {
    const { world, server } = await open({ answer: story() });
    world.write('team.yaml', TEAM(MODELS[dialect]));
    world.write('.troupe/config.yaml', `windows: { '${dialect}/*': 14000 }\n`);
    const ran = await begin(world, reach(dialect, server), ['run', 'team.yaml', '--json']).done;
    expect(server.rejections).toEqual([]);
    expect(ran.code, ran.stdout + ran.stderr).toBe(0);
    const [task] = JSON.parse(world.troupe('tasks', '--json').stdout) as TaskRow[];
    expect(task?.state).toBe('done');
    const made = compactionsIn(sessionOf(world));
    expect(made.length).toBeGreaterThan(1);
    expect(made.every((one) => one.by === 'model' && one.cause === 'threshold')).toBe(true);
    for (const seen of server.seen.filter((one) => one.actor === 'ada')) {
      expect(JSON.stringify(seen.body['messages'])).toContain('ORCHID');
    }
    const told = world.troupe('events', '--type', 'session.compacted', '--json').stdout;
    const events = told
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as TroupeEvent);
    expect(events.map((one) => one.data['after'])).toEqual(made.map((one) => one.after));
    const shown = world.troupe('session', 'ada').stdout;
    expect(shown).toContain('turns compacted (threshold, by model)');
    expect(shown).toContain('the word is ORCHID');
  });

  test('a model that takes less than was thought is believed, and the work goes on', async () => {
    const limits = { contextTokens: 14_000 };
    const { world, server } = await open({ answer: story(), anthropic: limits, openai: limits });
    world.write('team.yaml', TEAM(MODELS[dialect]));
    const ran = await begin(world, reach(dialect, server), ['run', 'team.yaml', '--json']).done;
    expect(ran.code, ran.stdout + ran.stderr).toBe(0);
    expect(server.rejections.length).toBeGreaterThan(0);
    expect(server.rejections.every((one) => /too long|context/.test(one.message))).toBe(true);
    expect(compactionsIn(sessionOf(world))[0]).toMatchObject({ cause: 'overflow' });
  });
});

test('`troupe compact` reaches a live actor, and says so when there is nobody', async () => {
  const told: Promise<unknown>[] = [];
  const wish = (turn: number): void => {
    if (turn !== 5) return;
    const args = ['compact', 'ada', '--focus', 'the word', '--json'];
    told.push(begin(world, {}, args).done);
  };
  const { world, server } = await open({ answer: story(wish) });
  world.write('team.yaml', TEAM(MODELS.anthropic));
  const ran = await begin(world, reach('anthropic', server), ['run', 'team.yaml', '--json']).done;
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
  expect(await told[0]).toMatchObject({ code: 0 });
  expect(compactionsIn(sessionOf(world))).toMatchObject([{ cause: 'asked', focus: 'the word' }]);
  expect(server.rejections).toEqual([]);
  const late = world.troupe('compact', 'ada');
  expect(late.code).toBe(1);
  expect(late.stderr).toContain('has ended');
  expect(world.troupe('session', 'nobody').code).toBe(5);
});
