/**
 * What the setup commands of a tree made is never committed nor saved (design §8). It is noted right after setup, in the
 * tree's admin folder, so that it is known in a later term: new files and folders by name, changed files by their content.
 * A changed file counts as the actor's from the moment its content is another.
 */
import { LIMITS } from './limits.ts';
import { join } from './paths.ts';
import type { Repository } from './repository.ts';
import { splitZ } from './stage.ts';
import { readText, type Tree, treeGit, writeText } from './tree-check.ts';

interface SetupNote {
  /** Untracked after setup, relative; a folder stands for all in it. */
  readonly made: readonly string[];
  /** Object id of the content that setup left, by path. */
  readonly changed: Readonly<Record<string, string>>;
}

const NOTE = 'troupe-setup.json';

/** To be called once, after setup and before anybody works in the tree. */
export async function noteSetup(
  repo: Repository,
  tree: Pick<Tree, 'path' | 'adminDir'>,
): Promise<void> {
  const git = treeGit(repo, tree);
  const timeoutMs = LIMITS.longTimeoutMs;
  const others = await git.run({
    args: ['ls-files', '-z', '-o', '--exclude-standard', '--directory', '--no-empty-directory'],
    timeoutMs,
  });
  const modified = splitZ((await git.run({ args: ['ls-files', '-z', '-m'], timeoutMs })).stdout);
  const changed: Record<string, string> = {};
  for (const path of modified) {
    const content = await contentOf(repo, tree, path);
    if (content !== null) changed[path] = content;
  }
  const made = splitZ(others.stdout).map((path) => path.replace(/\/$/, ''));
  const note: SetupNote = { made, changed };
  const path = join(tree.adminDir, NOTE);
  await repo.deps.files.remove(path);
  await writeText(repo.deps.files, path, JSON.stringify(note));
}

/** The paths to leave out now; none when the tree had no setup. */
export async function setupExcludes(
  repo: Repository,
  tree: Pick<Tree, 'path' | 'adminDir'>,
): Promise<string[]> {
  const text = await readText(repo.deps.files, join(tree.adminDir, NOTE));
  if (text === null) return [];
  const note = JSON.parse(text) as SetupNote;
  const untouched: string[] = [];
  for (const [path, content] of Object.entries(note.changed)) {
    if ((await contentOf(repo, tree, path)) === content) untouched.push(path);
  }
  return [...note.made, ...untouched];
}

/** Object id of a file's content; null when it is gone or no file. */
async function contentOf(
  repo: Repository,
  tree: Pick<Tree, 'path' | 'adminDir'>,
  path: string,
): Promise<string | null> {
  if ((await repo.deps.files.stat(join(tree.path, path)))?.kind !== 'file') return null;
  return treeGit(repo, tree).line(['hash-object', '--no-filters', '--', path]);
}
