/**
 * The demo's folder: what is there already, and making its repository. It is built beside its place and renamed, so
 * that there is never half of one.
 */
import { cp, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXIT, systemCode, TroupeError } from '../../kernel/errors.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { demoGit } from './git.ts';

/** Shipped with the package: the first example is the demo. */
const EXAMPLE = fileURLToPath(new URL('../../../examples/01-fix-and-document/', import.meta.url));

export const TEAM_FILE = 'team.yaml';
/** What of the example goes into the repository, besides its own files in `repo/`. */
const TEAM_FILES: readonly string[] = [TEAM_FILE, 'script.yaml'];
/** In the git directory: this repository was made by the demo. */
const MARK = '.git/troupe-demo';

/** The demo's repository at `name`, made when there is none. Throws `cli/usage` when something else is there. */
export async function openFolder(context: Context, name: string): Promise<string> {
  const wanted = resolve(context.io.cwd, name);
  switch (await lookAt(wanted)) {
    case 'demo':
      await restoreMissing(context, wanted);
      return realpath(wanted);
    case 'file':
      throw usageError(`${name} is a file`, 'Name a folder that does not exist yet.');
    case 'other':
      throw usageError(
        `${name} is not empty, and no demo made it`,
        'Name a folder that does not exist yet: troupe demo DIR',
      );
    case 'free':
      await build(context, wanted);
      return realpath(wanted);
  }
}

async function lookAt(folder: string): Promise<'free' | 'demo' | 'file' | 'other'> {
  try {
    const names = await readdir(folder);
    if (names.length === 0) return 'free';
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 'free';
    if (systemCode(error) === 'ENOTDIR') return 'file';
    throw error;
  }
  try {
    await readFile(join(folder, MARK));
    return 'demo';
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error))) return 'other';
    throw error;
  }
}

async function build(context: Context, wanted: string): Promise<void> {
  const exists = await realpath(wanted).catch(() => null);
  const target = exists ?? wanted;
  await mkdir(dirname(target), { recursive: true });
  const beside = besideOf(target, context.io.pid);
  await removeLeft(target);
  try {
    await fill(context, beside);
    // The folder that a shell stands in can't be replaced: it would stand in a removed one.
    if (target === (await realpath(context.io.cwd))) await moveInto(context, beside, target);
    else await rename(beside, target);
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

const besideOf = (target: string, pid: number): string =>
  join(dirname(target), `.${basename(target)}.new-${pid}`);

/** What demos left that were killed while they built. */
async function removeLeft(target: string): Promise<void> {
  for (const name of await readdir(dirname(target))) {
    const path = join(dirname(target), name);
    const pid = Number(name.split('-').at(-1));
    if (path !== besideOf(target, pid) || isRunning(pid)) continue;
    await rm(path, { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return pid !== process.pid && process.kill(pid, 0);
  } catch (error) {
    return systemCode(error) !== 'ESRCH';
  }
}

async function fill(context: Context, folder: string): Promise<void> {
  const { io } = context;
  const git = async (...args: string[]): Promise<void> => {
    const outcome = await demoGit(folder, io.env, args);
    if (outcome.kind === 'failed') throw gitFailed(args[0] ?? '', outcome.stderr);
  };
  await cp(join(EXAMPLE, 'repo'), folder, { recursive: true });
  for (const name of TEAM_FILES) await cp(join(EXAMPLE, name), join(folder, name));
  await git('init', '-q', '-b', 'main', '--template=');
  if (!(await hasIdentity(context, folder))) {
    await git('config', 'user.name', 'Troupe Demo');
    await git('config', 'user.email', 'demo@troupe.example');
  }
  await git('add', '--all');
  await git('commit', '-q', '-m', 'A small library with three failing tests');
  await writeFile(join(folder, MARK), 'Made by `troupe demo`.\n');
}

async function hasIdentity(context: Context, folder: string): Promise<boolean> {
  for (const key of ['user.name', 'user.email']) {
    const outcome = await demoGit(folder, context.io.env, ['config', '--get', key]);
    if (outcome.kind === 'failed') return false;
  }
  return true;
}

async function moveInto(context: Context, from: string, folder: string): Promise<void> {
  await rename(join(from, '.git'), join(folder, '.git'));
  await restoreMissing(context, folder);
}

/** Files of the commit that are not there (an end in the middle of making the folder); what is there is left alone. */
async function restoreMissing(context: Context, folder: string): Promise<void> {
  await demoGit(folder, context.io.env, ['checkout-index', '--all', '--quiet']);
}

function gitFailed(command: string, stderr: string): TroupeError {
  return new TroupeError({
    code: 'cli/demo-git',
    message: `git ${command} failed: ${stderr.trim()}`,
    hint: 'The demo needs git 2.38 or newer.',
    exit: EXIT.usage,
  });
}
