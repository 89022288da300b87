/** Agent profiles from files, through the built command line: who has the word, and what a wrong one says. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { answersIn, type ModelRun, openModelRun, toolsOf } from '../support/model-run.ts';
import { makeWorld, type World } from './cli-world.ts';

let world: World;
let run: ModelRun;
beforeEach(async () => {
  world = makeWorld();
  run = await openModelRun(world, (seen) =>
    answersIn(seen) === 0
      ? { calls: [{ tool: 'complete_task', input: { summary: 'done' } }] }
      : { text: 'Good.' },
  );
});
afterEach(async () => {
  await run.close();
  world.remove();
});

const team = (agent: string, rest = ''): string => `version: 1
name: small
model: anthropic/claude-sonnet-5-5
tasks: [{ id: note, prompt: Write the note., agent: ${agent} }]
permissions: { default: allow }
${rest}`;

function user(path: string, text: string): void {
  const file = join(world.env['HOME'] ?? '', '.config/troupe', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const profile = (prompt: string, head = ''): string =>
  `---\ndescription: Writes\ntools: [read_file, write_file]\n${head}---\n${prompt}\n`;

test('the nearest word on a profile stands: team file, .troupe, .claude, user, built in', async () => {
  user('agents/writer.md', profile('PROMPT OF THE USER'));
  world.write('team.yaml', team('writer'));
  const spoken: string[] = [];
  const next = async (): Promise<void> => {
    const before = run.server.seen.length;
    const ran = await run.troupe('run', 'team.yaml');
    expect(ran.code, ran.stdout + ran.stderr).toBe(0);
    spoken.push(
      /PROMPT OF [A-Z]+( [A-Z]+)?/.exec(run.server.seen[before]?.system ?? '')?.[0] ?? '',
    );
  };
  await next();
  expect(toolsOf(run.of('writer-1')[0])).toEqual(
    expect.arrayContaining(['read_file', 'write_file', 'complete_task']),
  );
  expect(toolsOf(run.of('writer-1')[0])).not.toContain('bash');
  world.write(
    '.claude/agents/writer.md',
    '---\nname: writer\ndescription: Writes\ntools: Read, Bash\nmodel: haiku\ncolor: red\n---\nPROMPT OF CLAUDE',
  );
  await next();
  // Trust is not asked of a profile, but it can't have what the user's own of that name has not.
  expect(toolsOf(run.server.seen.at(-1))).not.toContain('bash');
  expect(run.server.seen.at(-1)?.body['model']).toBe('claude-haiku-5-5');
  world.write('.troupe/agents/writer.md', profile('PROMPT OF TROUPE'));
  await next();
  world.write('team.yaml', team('writer', 'agents: { writer: { prompt: PROMPT OF TEAM } }'));
  await next();
  expect(spoken).toEqual([
    'PROMPT OF THE USER',
    'PROMPT OF CLAUDE',
    'PROMPT OF TROUPE',
    'PROMPT OF TEAM',
  ]);
  expect(run.server.rejections).toEqual([]);
});

test('a wrong profile of ours stops before anything starts, with file and line', () => {
  world.write('team.yaml', team('implementer'));
  world.write('.troupe/agents/a.md', '---\ntools: [raed_file]\nmodel: x\n---\nA');
  const checked = world.troupe('check', 'team.yaml');
  expect(checked.code).toBe(2);
  expect(checked.stderr).toContain('.troupe/agents/a.md:3:8: model: expected provider/model');
  world.write('.troupe/agents/a.md', '---\ntools: [raed_file]\n---\nA');
  expect(world.troupe('check', 'team.yaml').stderr).toContain(
    '.troupe/agents/a.md:2:9: tools[0]: there is no tool "raed_file" (did you mean read_file?)',
  );
  world.write('.troupe/agents/a.md', '---\nmodel: scripted/none.yaml\n---\nA');
  world.write('team.yaml', team('a').replace('anthropic/claude-sonnet-5-5', 'openai/x'));
  const missing = world.troupe('check', 'team.yaml');
  expect(missing.code).toBe(2);
  expect(missing.stderr).toContain('.troupe/agents/a.md:2:8: model: the script none.yaml was not');
});

test('one of another program is missed only when it is named, and then says why', () => {
  world.write('.claude/agents/odd.md', '---\nname: odd\ntools: Reed\n---\nx');
  world.write('team.yaml', team('implementer'));
  const fine = world.troupe('check', 'team.yaml');
  expect(fine.code, fine.stderr).toBe(0);
  expect(fine.stdout).toContain('note: .claude/agents/odd.md:3:8: tools: there is no tool "Reed"');
  world.write('team.yaml', team('odd'));
  const named = world.troupe('check', 'team.yaml');
  expect(named.code).toBe(2);
  expect(named.stderr).toContain('team.yaml:4:53: tasks[0].agent: there is no agent profile "odd"');
  expect(named.stderr).toContain('.claude/agents/odd.md:3:8');
});

test('links and pipes of a repository are not read as profiles', () => {
  writeFileSync(join(world.root, 'secret.md'), 'SECRET');
  mkdirSync(join(world.repo, '.troupe/agents'), { recursive: true });
  symlinkSync(join(world.root, 'secret.md'), join(world.repo, '.troupe/agents/leak.md'));
  symlinkSync(world.root, join(world.repo, '.claude'));
  world.write('team.yaml', team('leak'));
  const named = world.troupe('check', 'team.yaml');
  expect(named.code).toBe(2);
  expect(named.stderr).toContain('there is no agent profile "leak"');
});

/** What each call was answered, in the last request of the actor. */
function results(actor: string): string[] {
  const last = run.of(actor).at(-1);
  return (last?.messages ?? []).flatMap((message) =>
    message.role === 'user'
      ? message.content.flatMap((block) => (block.type === 'result' ? [block.text] : []))
      : [],
  );
}

const WRITE = { tool: 'write_file', input: { path: 'note.txt', content: 'x' } };

test.each([
  ['of the user', true, ''],
  ['of the repository', false, ''],
  // A repository can't open the gate that a person has shut.
  ['of the user, under one of the repository that says never', true, 'plan: never\n'],
])('A8: plan: required in a profile %s shuts the gate of its tasks', async (_, mine, own) => {
  await run.close();
  run = await openModelRun(world, (seen) =>
    answersIn(seen) === 0
      ? { calls: [WRITE] }
      : answersIn(seen) === 1
        ? { calls: [{ tool: 'fail_task', input: { reason: 'no plan' } }] }
        : { text: 'Good.' },
  );
  const required = profile('You write.', 'plan: required\n');
  if (mine) user('agents/writer.md', required);
  else world.write('.troupe/agents/writer.md', required);
  if (own !== '') world.write('.troupe/agents/writer.md', profile('You write more.', own));
  world.write('team.yaml', team('writer'));
  const ran = await run.troupe('run', 'team.yaml');
  expect(ran.code, ran.stdout + ran.stderr).toBe(1);
  expect(results('writer-1')[0]).toContain('needs an approved plan first');
  expect(run.server.rejections).toEqual([]);
  if (own !== '') expect(ran.stderr).toContain('plans stay required');
});

test('what is said of plans in a profile is checked, with its place', () => {
  world.write('team.yaml', team('writer'));
  world.write('.troupe/agents/writer.md', profile('You write.', 'plan: always\n'));
  const checked = world.troupe('check', 'team.yaml');
  expect(checked.code).toBe(2);
  expect(checked.stderr).toContain(
    '.troupe/agents/writer.md:4:7: plan: expected required or optional or never, found "always"',
  );
});

test('trusted, the skill of a repository is in use, and its profile is told of it; changed, it is not', async () => {
  await run.close();
  run = await openModelRun(world, (seen) =>
    answersIn(seen) === 0
      ? { calls: [{ tool: 'load_skill', input: { name: 'release', arguments: 'v2' } }] }
      : answersIn(seen) === 1
        ? { calls: [{ tool: 'complete_task', input: { summary: 'done' } }] }
        : { text: 'Good.' },
  );
  const skill = '---\nname: release\ndescription: Makes a release\n---\nRelease $ARGUMENTS now.';
  world.write('.troupe/skills/release/SKILL.md', skill);
  world.write(
    '.troupe/agents/writer.md',
    profile('PROMPT OF THE REPOSITORY', 'skills: [release]\n'),
  );
  world.write('team.yaml', team('writer'));
  const before = world.troupe('check', 'team.yaml');
  expect(before.stdout + before.stderr).toContain('not trusted as it is now');
  const trusted = await run.troupe('trust');
  expect(trusted.code, trusted.stderr).toBe(0);
  expect(trusted.stdout).toContain('.troupe/skills/release');
  const ran = await run.troupe('run', 'team.yaml');
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
  const system = run.of('writer-1')[0]?.system;
  expect(system).toContain('PROMPT OF THE REPOSITORY');
  expect(system).toContain('- release: Makes a release');
  expect(results('writer-1')[0]).toContain('Release v2 now.');
  world.write('.troupe/skills/release/SKILL.md', `${skill} And more.`);
  const changed = await run.troupe('run', 'team.yaml');
  expect(changed.code, changed.stdout + changed.stderr).toBe(0);
  expect(changed.stderr).toContain('not trusted as it is now');
  expect(run.of('writer-1').at(-1)?.system).not.toContain('Makes a release');
});

test('a profile that nobody needs and nobody can have stops no run; who asks for it is told why', async () => {
  await run.close();
  run = await openModelRun(world, (seen) => {
    if (answersIn(seen) > 0 && seen.actor === 'lead') return { text: 'Good.' };
    if (answersIn(seen) === 1) {
      return { calls: [{ tool: 'complete_task', input: { summary: 'done' } }] };
    }
    if (seen.actor !== 'lead') {
      return { calls: [{ tool: 'task', input: { prompt: 'Look', agent: 'dear' } }] };
    }
    return {
      calls: [
        { tool: 'spawn_teammate', input: { name: 'bo', agent: 'costly' } },
        {
          tool: 'create_task',
          input: { id: 'more', title: 'More', prompt: 'More', agent: 'dear' },
        },
        {
          tool: 'create_task',
          input: { id: 'odd', title: 'Odd', prompt: 'Odd', agent: 'constructor' },
        },
      ],
    };
  });
  world.write('.troupe/agents/costly.md', profile('You cost.', 'model: mistral/large\n'));
  world.write('.troupe/agents/dear.md', profile('You cost more.', 'model: openai/unpriced\n'));
  const text = team('implementer', 'members: { lead: { agent: lead } }\nbudget: { usd: 5 }');
  world.write('team.yaml', text);
  const ran = await run.troupe('run', 'team.yaml');
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
  expect(ran.stderr).toContain('.troupe/agents/costly.md:4:8: model: unknown provider "mistral"');
  expect(ran.stderr).toContain('.troupe/agents/dear.md:4:8: model: the budget is in dollars');
  expect(ran.stderr).toContain('Nothing in this team needs the profile dear');
  const [spawn, priced, odd] = results('lead');
  expect(spawn).toContain('the agent profile "costly" can\'t be used in this run: ');
  expect(spawn).toContain('choose one of: explorer, implementer, lead, planner, reviewer');
  expect(priced).toContain('nobody knows the price of "openai/unpriced"');
  expect(odd).toContain('there is no agent profile "constructor"');
  expect(results('implementer-1')[0]).toContain('the agent profile "dear" can\'t be used');
  expect(run.server.rejections).toEqual([]);
  const doctor = await run.troupe('doctor');
  expect(doctor.stdout).toContain('can\'t be used now: unknown provider "mistral"');
  // As soon as something needs it, it is an error as before.
  world.write('team.yaml', text.replace('agent: implementer', 'agent: costly'));
  const needed = await run.troupe('run', 'team.yaml');
  expect(needed.code).toBe(2);
  expect(needed.stderr).toContain('.troupe/agents/costly.md:4:8: model: unknown provider');
});
