/**
 * `web_fetch` through the built command line: off unless a profile names it, judged by host, and nothing inner is dialled. A
 * page is read in a network of its own, where a public address is this machine's.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { makeWorld, type Result, type World } from './cli-world.ts';

const BIN = fileURLToPath(new URL('../../bin/troupe.js', import.meta.url));
/** Public, and nobody's but ours in there. */
const ADDRESS = '93.184.216.34';

const worlds: World[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.remove();
});

const TEAM = `version: 1
name: reading
model: scripted/script.yaml
agents: { reader: { description: Reads., prompt: Read., tools: [read_file, web_fetch, bash] } }
members: { teammates: [{ name: ada, agent: reader }, { name: bo, agent: implementer }] }
permissions:
  default: deny
  rules:
    - { id: page, effect: allow, tool: web_fetch, host: '${ADDRESS}' }
    - { id: inner, effect: allow, tool: web_fetch, host: { domain: localhost } }
    - { id: loop, effect: allow, tool: web_fetch, host: 127.0.0.1 }
tasks:
  - { id: read, prompt: Read., agent: reader, attempts: 1 }
  - { id: other, prompt: Read., agent: implementer, attempts: 1 }
`;

const fetched = (url: string): string => `{ web_fetch: { url: "${url}" } }`;
const SCRIPT = `version: 1
sections:
  - task: read
    turns:
      - calls: [${fetched(`http://${ADDRESS}:8034/`)}, ${fetched(`http://${ADDRESS}:8034/inner`)}]
      - calls: [${fetched('http://localhost:8034/')}, ${fetched('http://127.0.0.1:8034/')}]
      - calls: [${fetched('http://169.254.169.254/latest/meta-data')}, ${fetched('http://example.org/')}]
      - calls: [{ complete_task: { summary: read } }]
  - task: other
    turns:
      - calls: [${fetched(`http://${ADDRESS}:8034/`)}]
      - calls: [{ complete_task: { summary: none } }]
`;

const SERVER = `import { createServer } from 'node:http';
import { spawn } from 'node:child_process';
const server = createServer((request, response) => {
  if (request.url === '/inner') response.writeHead(302, { location: 'http://127.0.0.1:8034/' }).end();
  else response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>News</h1><p>It <b>works</b>.</p>');
});
server.listen(8034, '0.0.0.0', () => {
  const run = spawn(process.execPath, [${JSON.stringify(BIN)}, 'run', 'team.yaml', '--run-id', 'r1'], { stdio: 'inherit' });
  run.on('close', (code) => process.exit(code ?? 1));
});
`;

/** In a network of its own with the public address on its loopback. */
function runApart(world: World): Result {
  world.write('../serve.mjs', SERVER);
  const setup = `ip link set lo up && ip addr add ${ADDRESS}/32 dev lo && exec "$0" "$1"`;
  const done = spawnSync(
    'unshare',
    ['-Urn', 'sh', '-c', setup, process.execPath, join(world.root, 'serve.mjs')],
    { cwd: world.repo, env: world.env, encoding: 'utf8', timeout: 60_000 },
  );
  return { code: done.status, stdout: done.stdout ?? '', stderr: done.stderr ?? '' };
}

const canSplit =
  spawnSync('unshare', [
    '-Urn',
    'sh',
    '-c',
    `ip link set lo up && ip addr add ${ADDRESS}/32 dev lo`,
  ]).status === 0;

interface Shown {
  readonly type: string;
  readonly ok?: boolean;
  readonly text?: string;
}

function results(world: World, actor: string): Shown[] {
  const shown = JSON.parse(world.troupe('session', actor, '--json').stdout) as { entries: Shown[] };
  return shown.entries.filter((entry) => entry.type === 'result');
}

test.skipIf(!canSplit)(
  'P40: a page is read as untrusted text; inner addresses, other hosts and other profiles are refused',
  () => {
    const world = makeWorld();
    worlds.push(world);
    world.write('team.yaml', TEAM);
    world.write('script.yaml', SCRIPT);
    const ran = runApart(world);
    expect(ran.code, ran.stdout + ran.stderr).toBe(0);
    const [page, moved, named, loop, metadata, other] = results(world, 'ada');
    expect(page).toMatchObject({ ok: true });
    expect(page?.text).toContain('untrusted content of the web follows]\nNews\n');
    expect(page?.text).toContain('It works.');
    expect(moved).toMatchObject({ ok: false });
    expect(moved?.text).toContain('has moved to another host');
    // The floor holds over the rules that would let them by.
    expect([named, loop, metadata, other].map((one) => one?.text)).toEqual([
      'refused: it is this machine',
      'refused: it is this machine',
      'refused: it is a link-local address, where clouds keep credentials',
      'refused: no rule allows example.org; the default is deny',
    ]);
    expect(results(world, 'bo')[0]).toMatchObject({ ok: false });
    expect(results(world, 'bo')[0]?.text).toContain('web_fetch');
  },
);
