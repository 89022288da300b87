/** What the peers need, put into a temporary folder: npm packages, and servers that are there or come out of packages. */
import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as net from 'node:net';
import * as path from 'node:path';

/** A `require` for pinned packages in `directory`; null, with the reason told, when they can't be had. */
export async function installPackages(directory, specs) {
  fs.mkdirSync(directory, { recursive: true });
  fs.writeFileSync(path.join(directory, 'package.json'), '{"private":true}\n');
  const args = ['install', '--no-audit', '--no-fund', '--no-save', '--loglevel=error', ...specs];
  const done = spawnSync('npm', args, { cwd: directory, encoding: 'utf8', timeout: 600_000 });
  if (done.status !== 0) {
    tell(`npm install ${specs.join(' ')} failed: ${(done.stderr ?? '').trim().split('\n').at(-1)}`);
    return null;
  }
  const { createRequire } = await import('node:module');
  return createRequire(path.join(directory, 'package.json'));
}

/**
 * A server's program: on PATH, or taken out of Debian packages into `directory`, without installing anything. Null, with
 * what is missing told.
 */
export function findProgram(directory, { name, packages }) {
  const found = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' });
  if (found.status === 0) return { file: found.stdout.trim(), env: process.env };
  fs.mkdirSync(directory, { recursive: true });
  const fetched = spawnSync('apt-get', ['download', ...packages], {
    cwd: directory,
    encoding: 'utf8',
  });
  if (fetched.status !== 0) {
    tell(`${name} is missing: install it, or let apt-get download ${packages[0]}`);
    return null;
  }
  for (const file of fs.readdirSync(directory).filter((one) => one.endsWith('.deb'))) {
    spawnSync('dpkg', ['-x', file, 'root'], { cwd: directory });
  }
  const root = path.join(directory, 'root');
  const all = fs.readdirSync(root, { recursive: true }).map((one) => path.join(root, one));
  const file = all.find((one) => path.basename(one) === name && /\/s?bin\//.test(one));
  if (file === undefined) {
    tell(`${name} is missing: it is not in ${packages[0]}`);
    return null;
  }
  const libraries = all.filter((one) => /[.]so([.]|$)/.test(one)).map((one) => path.dirname(one));
  const env = { ...process.env, LD_LIBRARY_PATH: [...new Set(libraries)].join(':') };
  return { file, env };
}

/** Runs it on a free loopback port until `stop`; resolves when it takes connections. */
export async function startServer(program, argsOf) {
  const port = await freePort();
  const child = spawn(program.file, argsOf(port), { env: program.env, stdio: 'ignore' });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if (await answers(port)) return { port, stop };
    if (child.exitCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await stop();
  throw new Error(`${program.file} does not answer`);
}

export function tell(text) {
  process.stderr.write(`peers: ${text}\n`);
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    const end = (found) => {
      socket.destroy();
      resolve(found);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}
