/** P20–P22 through the built command: what agents and gates of a real run reach while its supervisor listens. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, test } from 'vitest';
import { inlineSupervisor } from '../support/inline-supervisor.ts';
import { makeRepo } from '../support/repo.ts';
import { noSandboxHere } from '../support/sandbox-here.ts';
import { recordsOf } from '../support/supervised.ts';
import { runFile, task, team } from '../support/team.ts';
import { makeWorld, type World } from './cli-world.ts';

const missing = await noSandboxHere();
if (missing !== null)
  test.skip(`skipped: no sandbox can be made here (${missing})`, () => undefined);

const worlds: World[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.remove();
});
function world(): World {
  const made = makeWorld();
  worlds.push(made);
  return made;
}

function outputs(of: World, run: string): string {
  const folder = join(of.repo, '.git/troupe/runs', run, 'outputs');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
}

describe.skipIf(missing !== null)('a run in the sandbox', () => {
  it('says so, keeps its state and its socket from agents, and lets their work through', async () => {
    const w = world();
    const socket = JSON.parse(w.troupe('where', '--json').stdout).socket as string;
    const commands = [
      `cat ${w.repo}/.git/troupe/token && echo GOT-TOKEN`,
      `node -e 'require("net").connect("${socket}").on("connect", () => console.log("GOT-SOCKET")).on("error", (e) => console.log(e.code))'`,
      `echo x > ${w.repo}/.git/hooks/post-merge || echo NO-HOOK`,
      'git init -q sub && echo "touch ${HOME}/pwned" > sub/.git/hooks/post-checkout; rm -rf sub',
      'mkdir .vscode && echo "{}" > .vscode/tasks.json',
      'for i in 1 2; do echo "work $i" >> work.txt; done',
    ];
    // The floor would refuse them as text; as code of the repository nobody reads them before they run.
    const scripts = commands.map((command, index) => {
      w.write(`attempt-${index}.sh`, command);
      return `bash attempt-${index}.sh`;
    });
    w.git('add', '-A');
    w.git('commit', '-qm', 'attempts');
    const steps = [
      ...scripts.map((command) => ({ calls: [{ bash: { command } }] })),
      { calls: [{ complete_task: { summary: 'Done' } }] },
    ];
    w.write('script.yaml', JSON.stringify({ version: 1, sections: [{ turns: steps }] }));
    w.write(
      'team.yaml',
      JSON.stringify({
        version: 1,
        name: 'held',
        model: 'scripted/script.yaml',
        sandbox: 'required',
        permissions: { mode: 'auto-in-sandbox' },
        tasks: [
          { id: 'work', title: 'Work', prompt: 'Work', verify: ['grep -q "work 2" work.txt'] },
        ],
      }),
    );
    const done = w.troupe('run', 'team.yaml', '--run-id', 'r1', '--headless');
    expect(done.code, done.stdout + done.stderr).toBe(0);
    expect(done.stdout).toContain('(sandbox: bubblewrap, no network for agents)');
    const said = outputs(w, 'r1');
    expect(said).not.toMatch(/GOT-TOKEN|GOT-SOCKET/);
    expect(said).toContain('ENOENT');
    expect(said).toContain('NO-HOOK');
    expect(w.git('show', '--stat', '--format=', 'troupe/r1/main^2')).toMatch(/^ work.txt/);
    expect(existsSync(join(w.root, 'home/pwned'))).toBe(false);
    const started = (await recordsOf(w, 'r1')).flatMap((record) => record.run ?? [])[0];
    expect(started).toMatchObject({ type: 'run.started', sandbox: 2 });
  });

  it('P24: lets agents reach the host that the team names, and tells how to open another', async () => {
    const w = world();
    const code = `require("node:http").createServer((q, r) => r.end("HELLO")).listen(0, "127.0.0.1", function () { console.log(this.address().port) })`;
    const server = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [port] = (await once(server.stdout, 'data')) as [Buffer];
      const at = `localhost:${port.toString().trim()}`;
      const reach = `curl -sS --noproxy "" http://${at}/; curl -sS http://evil.invalid/`;
      const steps = [
        { calls: [{ bash: { command: reach } }] },
        { calls: [{ complete_task: { summary: 'Done' } }] },
      ];
      w.write('script.yaml', JSON.stringify({ version: 1, sections: [{ turns: steps }] }));
      const file = {
        version: 1,
        name: 'reaching',
        model: 'scripted/script.yaml',
        sandbox: { mode: 'required', network: { allow: [at] } },
        permissions: { default: 'allow' },
        tasks: [{ id: 'work', title: 'Work', prompt: 'Work' }],
      };
      w.write('team.yaml', JSON.stringify(file));
      const done = w.troupe('run', 'team.yaml', '--run-id', 'r1', '--headless');
      expect(done.code, done.stdout + done.stderr).toBe(0);
      expect(done.stdout).toContain(`(sandbox: bubblewrap, no network for agents but ${at})`);
      expect(outputs(w, 'r1')).toContain('HELLO');
      expect(outputs(w, 'r1')).toContain('evil.invalid is not on the list');
      const records = await recordsOf(w, 'r1');
      expect(records.flatMap((record) => record.run ?? [])[0]).toMatchObject({ sandbox: 3 });
      expect(JSON.stringify(records)).toContain('network: { allow: [');
    } finally {
      server.kill();
    }
  });

  it('the same team without a sandbox is refused what no rule allows', () => {
    const w = world();
    const steps = [
      { calls: [{ bash: { command: 'for i in 1; do echo x > made; done' } }] },
      { calls: [{ complete_task: { summary: 'Done' } }] },
    ];
    w.write('script.yaml', JSON.stringify({ version: 1, sections: [{ turns: steps }] }));
    const file = {
      version: 1,
      name: 'free',
      model: 'scripted/script.yaml',
      sandbox: 'off',
      permissions: { mode: 'auto-in-sandbox' },
      tasks: [{ id: 'work', title: 'Work', prompt: 'Work' }],
    };
    w.write('team.yaml', JSON.stringify(file));
    const done = w.troupe('run', 'team.yaml', '--run-id', 'r1', '--headless');
    expect(done.stdout).toContain('(sandbox off: commands run with your rights)');
    expect(JSON.parse(w.troupe('tasks', '--json').stdout)).toMatchObject([{ commit: null }]);
  });

  it('setup installs, the gates use what it made, and the cache of the home is the one that is used', () => {
    const w = world();
    w.write(
      'package.json',
      JSON.stringify({ name: 'x', version: '1.0.0', scripts: { test: 'node test.js' } }),
    );
    w.write(
      'test.js',
      'require("node:fs").writeFileSync("out", "x"); console.log(require("node:os").tmpdir());\n',
    );
    w.git('add', '-A');
    w.git('commit', '-qm', 'package');
    const file = {
      version: 1,
      name: 'npm',
      worktree: { setup: ['npm install --offline --no-audit --no-fund'] },
      tasks: [{ id: 'a', title: 'A', run: 'echo a > a', verify: ['npm test'] }],
      finish: { verify: ['npm test'] },
    };
    w.write('team.yaml', JSON.stringify(file));
    const done = w.troupe('run', 'team.yaml', '--run-id', 'r1');
    expect(done.code, done.stdout + outputs(w, 'r1')).toBe(0);
    expect(
      execFileSync('git', ['-C', w.repo, 'ls-tree', '--name-only', 'troupe/r1/main'], {
        encoding: 'utf8',
      }),
    ).toContain('a\n');
  });

  it('doctor proves it', () => {
    const done = world().troupe('doctor', '--probe-sandbox', '--json');
    const findings = JSON.parse(done.stdout) as { ok: boolean; detail: string }[];
    expect(findings.filter((one) => !one.ok)).toEqual([]);
    expect(findings.length).toBeGreaterThan(30);
    expect(done.code).toBe(0);
  });
});

it('P22: a team that requires a sandbox does not start on a machine without one', async () => {
  const repo = makeRepo({ files: { a: 'a\n' } });
  const inline = await inlineSupervisor(repo);
  try {
    const file = runFile({
      id: 'r1',
      team: {
        ...team({ tasks: [task({ id: 'a', run: 'true' })] }),
        sandbox: { mode: 'required', read: [], write: [] },
      },
      baseCommit: repo.git(['rev-parse', 'HEAD']).trim(),
      workspace: repo.root,
      treesRoot: `${repo.trees}/r1`,
    });
    inline.prepare(file);
    await expect(inline.supervisor.startRun(file)).rejects.toMatchObject({
      code: 'run/no-sandbox',
      exit: 2,
    });
  } finally {
    await inline.supervisor.close();
    repo.dispose();
  }
});
