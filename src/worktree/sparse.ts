/**
 * A tree with a part of the files only: the folders of a cone (and the files right above them). It is asked for in the team
 * file, because git then writes `extensions.worktreeConfig = true` into the repository's shared config, which is the user's;
 * nothing else of it changes. The index stays a whole one, so that programs which don't know sparse ones can read it.
 */
import { errors } from './errors.ts';
import { LIMITS } from './limits.ts';
import type { Repository } from './repository.ts';
import { type Tree, treeGit } from './tree-check.ts';

/** For a tree whose files are not written yet. The repository's lock is held, since the shared config is written. */
export async function setCone(
  repo: Repository,
  tree: Tree,
  folders: readonly string[],
): Promise<void> {
  await treeGit(repo, tree).run({
    args: ['sparse-checkout', 'set', '--cone', '--no-sparse-index', '--stdin'],
    stdin: folders.map((folder) => `${cQuoted(folder)}\n`).join(''),
    timeoutMs: LIMITS.longTimeoutMs,
  });
}

/** As git reads names from lines: quoted, so that a name may hold anything. */
function cQuoted(folder: string): string {
  return `"${folder.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** Those of the folders that the commit does not have. */
export async function missingFolders(
  repo: Repository,
  commit: string,
  folders: readonly string[],
): Promise<string[]> {
  if (folders.length === 0) return [];
  const asked = await repo.git.run({
    args: ['cat-file', '--batch-check=%(objecttype)', '-z'],
    stdin: folders.map((folder) => `${commit}:${folder}\0`).join(''),
  });
  // One line for each, since the team file takes no line feed in a folder's name.
  const kinds = asked.stdout.split('\n');
  return folders.filter((_folder, index) => kinds[index] !== 'tree');
}

/** Whether git has written (for whomever) what sparse trees need into the shared config. Throws `git/failed`. */
export async function hasWorktreeConfig(repo: Repository): Promise<boolean> {
  const args = ['config', '--type=bool', '--get', 'extensions.worktreeConfig'];
  const found = await repo.git.run({ args, codes: [0, 1] });
  if (found.code !== 0 && found.code !== 1) throw errors.gitFailed('config', found.code, '');
  return found.stdout.trim() === 'true';
}
