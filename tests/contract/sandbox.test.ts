/** P20–P23: what a command in the real sandbox reaches, and what it does not. Each attempt goes with the wall that stops it. */
import { execFileSync } from 'node:child_process';
import { existsSync, linkSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { ATTEMPTS, attempt } from '../../src/main/sandbox-proof.ts';
import { type SandboxWorld, SECRET, sandboxWorld } from '../../src/main/sandbox-world.ts';
import { NodeExec } from '../../src/platform/index.ts';
import { noSandboxHere } from '../support/sandbox-here.ts';

const missing = await noSandboxHere();

if (missing !== null)
  test.skip(`skipped: no sandbox can be made here (${missing})`, () => undefined);

describe.skipIf(missing !== null)('the sandbox', () => {
  let world: SandboxWorld;
  beforeAll(async () => {
    world = await sandboxWorld(new NodeExec({ onWorkerThread: true }), process.env['PATH'] ?? '');
  });
  afterAll(() => world.close());

  it.each(ATTEMPTS.map((one) => [one.does, one] as const))(
    'does not let a command %s',
    async (_does, one) => {
      expect(await attempt(world, one)).toBeNull();
    },
  );

  it('nothing outside changed by all this', () => {
    const git = (...args: string[]): string =>
      execFileSync('git', args, { cwd: world.repo, env: world.env, encoding: 'utf8' });
    expect(world.connections()).toBe(0);
    expect(readFileSync(join(world.home, '.bashrc'), 'utf8')).toBe('# mine\n');
    expect(existsSync(join(world.repo, '.git/hooks/post-checkout'))).toBe(false);
    expect(git('config', '--list', '--local')).not.toContain('fsmonitor');
    expect(readFileSync(join(world.state, 'token'), 'utf8')).toBe('SECRET-7f3a');
    expect(readdirSync(world.state)).toEqual(['token']);
    expect(git('fsck', '--no-dangling')).toBe('');
    expect(git('status', '--porcelain')).toBe('?? .env\n');
  });

  it('a link in the tree leads nowhere that the tree does not', async () => {
    symlinkSync(join(world.home, '.ssh'), join(world.tree, 'keys'));
    symlinkSync(join(world.home, '.bashrc'), join(world.tree, 'rc'));
    const read = await world.run('cat keys/id_ed25519');
    expect(read).toMatchObject({ code: 1 });
    await world.run('echo evil >> rc');
    expect(readFileSync(join(world.home, '.bashrc'), 'utf8')).toBe('# mine\n');
    await world.run('rm keys rc');
  });

  it('a hard link out of the tree cannot be made', async () => {
    const outside = world.write('outside', 'mine');
    const done = await world.run(`ln ${world.repo}/README.md here`);
    expect(done.code).not.toBe(0);
    expect(() => linkSync(outside, join(world.tree, 'linked'))).not.toThrow();
    await world.run('rm linked');
    expect(readFileSync(outside, 'utf8')).toBe('mine');
  });

  it('lets a command do its work: write the tree, use git for reading, node, temporary files and loopback', async () => {
    const done = await world.run(`set -e
      echo new > file.txt; test "$(git status --porcelain)" = "?? file.txt"
      git log --oneline | grep -q start; git diff --quiet HEAD -- README.md
      node -e 'require("node:fs").writeFileSync(require("node:os").tmpdir() + "/x", "")'; test -f /tmp/x
      echo cache > "$HOME/.cache-file"; test "$HOME" = ${world.home}
      node -e 'const s = require("node:http").createServer((q, r) => r.end("ok")).listen(0, "127.0.0.1", () =>
        fetch("http://127.0.0.1:" + s.address().port).then((r) => r.text()).then((t) => process.exit(t === "ok" ? 0 : 1)))'
      rm file.txt`);
    expect(done, done.text).toMatchObject({ code: 0, left: [] });
    expect(existsSync(join(world.home, '.cache-file'))).toBe(false);
  });

  it('a commit by an actor is refused by git, and says why', async () => {
    const done = await world.run(
      'echo x > README.md; git commit -qam mine; git checkout -q -- .; git diff --stat',
    );
    expect(done.text).toContain('Read-only file system');
    await world.run('git show HEAD:README.md > README.md');
  });

  it('has the environment that was given, with a temporary folder of its own and no proxy', async () => {
    const names = async (change: Partial<SandboxWorld['request']>): Promise<string[]> => {
      const lines = (await world.run('env | sort', change)).text.trim().split('\n');
      return lines.map((line) => line.split('=')[0] ?? '');
    };
    const common = ['HOME', 'LANG', 'PATH', 'PWD', 'SHLVL', 'TMPDIR', 'TROUPE_PROC', '_'];
    expect(await names({})).toEqual(common);
    expect(await names({ profile: 'team' })).toEqual(['HOME', 'HTTPS_PROXY', ...common.slice(1)]);
  });

  it('bounds processes, files and core dumps, and goes first when memory ends', async () => {
    const look = 'ulimit -u; ulimit -f; ulimit -c; cat /proc/self/oom_score_adj';
    const [processes, blocks, core, score] = (await world.run(look)).text.trim().split('\n');
    // bash counts blocks of 1024 bytes.
    expect([processes, blocks, core, score]).toEqual(['4096', `${32 * 1024 * 1024}`, '0', '500']);
  });

  it('ends everything with the command, also what left its session', async () => {
    const done = await world.run('setsid sleep 100 & nohup sleep 100 & disown; exit 3');
    expect(done).toMatchObject({ code: 3, left: [] });
  });

  it('moves names out of the tree that other programs run later, and keeps them', async () => {
    const done = await world.run(
      `mkdir .vscode .TROUPE; echo '{}' > .vscode/tasks.json; echo a > .envrc; ln -s /etc .husky`,
    );
    expect([...(done.setAside ?? [])].toSorted()).toEqual([
      '.TROUPE',
      '.envrc',
      '.husky',
      '.vscode',
    ]);
    expect(readdirSync(world.tree).toSorted()).toEqual(['.git', 'README.md']);
    expect(readFileSync(join(world.request.setAside, '.vscode/tasks.json'), 'utf8')).toBe('{}\n');
  });

  it('does not let a command change such names that are there', async () => {
    world.write('home/.local/state/troupe/trees/hash/run/task/.envrc', 'mine\n');
    const done = await world.run('echo evil >> .envrc; rm -f .envrc; mv .envrc x');
    expect(done.setAside).toEqual([]);
    expect(readFileSync(join(world.tree, '.envrc'), 'utf8')).toBe('mine\n');
  });

  it('does so at every depth, and sees a repository under whatever name', async () => {
    const done = await world.run(
      `mkdir -p a/b/.VSCode a/.github/workflows a/.github/docs node_modules/x
       echo '{}' > a/b/.VSCode/tasks.json; echo x > a/.github/workflows/ci.yml; echo d > a/.github/docs/d
       echo x > node_modules/x/.npmrc; echo x > a/b/c; git init -q a/sub; git init -q --bare a/innocent`,
    );
    expect([...(done.setAside ?? [])].toSorted()).toEqual([
      'a/.github/workflows',
      'a/b/.VSCode',
      'a/innocent/config',
      'a/innocent/hooks',
      'a/sub/.git',
    ]);
    const kept = join(world.request.setAside, 'a/b/.VSCode/tasks.json');
    expect(readFileSync(kept, 'utf8')).toBe('{}\n');
    expect(readdirSync(join(world.tree, 'a')).toSorted()).toEqual([
      '.github',
      'b',
      'innocent',
      'sub',
    ]);
    expect(readdirSync(join(world.tree, 'a/.github'))).toEqual(['docs']);
    await world.run('rm -rf a node_modules');
  });

  it('locks them at every depth, wherever they are moved', async () => {
    const tree = 'home/.local/state/troupe/trees/hash/run/task';
    world.write(`${tree}/p/q/.npmrc`, 'mine\n');
    const done = await world.run('echo evil >> p/q/.npmrc; mv p r; echo evil >> r/q/.npmrc');
    expect(done.text.match(/Read-only/g)).toHaveLength(2);
    expect(done.setAside).toEqual(['r/q/.npmrc']);
    rmSync(join(world.tree, 'r'), { recursive: true });
  });

  it('hooks and configuration of a repository below the tree stay as they are', async () => {
    // As `worktree.setup` may leave it.
    const setUp = { profile: 'setup', protect: ['.troupe'] } as const;
    const made = await world.run('git init -q deep/er/sub && rm -r deep/er/sub/.git/hooks', setUp);
    expect(made.setAside).toEqual([]);
    const git = join(world.tree, 'deep/er/sub/.git');
    const before = readFileSync(join(git, 'config'), 'utf8');
    const done = await world.run(
      'cd deep/er/sub/.git && echo evil >> config; mkdir hooks && echo evil > hooks/pre-commit',
    );
    expect(done.text.match(/Read-only/g)).toHaveLength(1);
    expect(done.setAside).toEqual(['deep/er/sub/.git/hooks']);
    expect(readFileSync(join(git, 'config'), 'utf8')).toBe(before);
    await world.run('rm -rf deep', setUp);
    rmSync(join(world.tree, 'deep'), { recursive: true, force: true });
  });

  it('shows nothing of the supervisor’s environment, in no process', async () => {
    process.env['TROUPE_TEST_PROVIDER_KEY'] = SECRET;
    try {
      const seen = await world.run(`cat /proc/*/environ | tr '\\0' '\\n'; cat /proc/*/cmdline`);
      expect(seen.text).toContain('LANG=C.UTF-8');
      expect(seen.text).not.toContain('PROVIDER_KEY');
      expect(seen.text).not.toContain(SECRET);
    } finally {
      delete process.env['TROUPE_TEST_PROVIDER_KEY'];
    }
  });

  it('the view is for reading', async () => {
    const done = await world.run('cat README.md && touch new', { writable: false });
    expect(done.code).not.toBe(0);
    expect(done.text).toContain('A repository');
  });

  it('shows the person’s commands the network and the identity of git, setup also the registries', async () => {
    world.write('home/.gitconfig', '[user]\n  name = Me\n');
    world.write('home/.npmrc', 'registry=https://packages.example\n');
    world.write('home/.npm/_cacache/index', 'cached');
    const look = 'git config user.name; cat ~/.npmrc; echo more >> ~/.npm/_cacache/index; true';
    expect((await world.run(look)).text).not.toMatch(/^Me$|registry=/m);
    const team = await world.run(look, { profile: 'team' });
    expect(team.text).toMatch(/^Me$/m);
    expect(team.text).not.toContain('packages.example');
    const setup = await world.run(look, { profile: 'setup' });
    expect(setup.text).toContain('packages.example');
    expect(readFileSync(join(world.home, '.npm/_cacache/index'), 'utf8')).toBe('cachedmore\n');
  });

  it('opens folders that a person named, and never what is closed in them', async () => {
    world.write('home/data/a', 'open');
    const read = await world.run('cat ~/data/a; echo x > ~/data/a', { read: ['~/data'] });
    expect(read.text).toContain('open');
    expect(readFileSync(join(world.home, 'data/a'), 'utf8')).toBe('open');
    await world.run('echo written > ~/data/a', { write: ['~/data'] });
    expect(readFileSync(join(world.home, 'data/a'), 'utf8')).toBe('written\n');
    const state = await world.run(`cat ${world.state}/token`, { write: [world.repo] });
    expect(state.text).not.toContain('SECRET');
  });

  it('a sandbox that cannot be made is an error, and the command does not run', async () => {
    await expect(world.run('touch ran', { tree: join(world.root, 'nowhere') })).rejects.toThrow();
  });
});
