/**
 * The arguments of bubblewrap for one command: pure, from what is known of the machine and of the tree.
 *
 * What later arguments do lies over what earlier ones did, so the order is the meaning: the whole system read-only, then
 * folders that are emptied, then what tools need of them, then what nobody may see, then the tree, last what is read-only
 * inside of it.
 *
 * Invariants
 * - P20 A command in the sandbox writes to its tree and to folders that end with it, and to nothing else (`setup` also to
 *   the caches of package managers, and each profile to folders that a person named).
 * - P21 Troupe's own state, its socket and the trees of others are not there, whatever is shown around them.
 */

export interface SandboxFacts {
  /** Emptied: homes, temporary and runtime folders. Real paths that exist. */
  readonly emptied: readonly string[];
  /** Shown again, read-only. */
  readonly readable: readonly string[];
  /** Shown again, and written to. */
  readonly writable: readonly string[];
  /** Never there, after all that is shown: Troupe's state, the socket, the trees of others. */
  readonly closed: readonly string[];
  /** Files without content. */
  readonly blanked: readonly string[];
  readonly tree: string;
  /** False for the view, which is for reading. */
  readonly treeWritable: boolean;
  /** Read-only inside of the tree. */
  readonly locked: readonly string[];
  /** The machine's network; without it only a loopback of its own is there. */
  readonly network: boolean;
  /** The socket of our proxy, shown at its own path; null: none. */
  readonly proxy: string | null;
  readonly cwd: string;
}

const NAMESPACES: readonly string[] =
  '--unshare-all --die-with-parent --new-session --cap-drop ALL'.split(' ');

const SYSTEM: readonly string[] = '--ro-bind / / --dev /dev --proc /proc'.split(' ');

/** Behind them come `--` and the command. */
export function sandboxArguments(facts: SandboxFacts): string[] {
  const { tree } = facts;
  const closed = outerFirst(facts.closed.filter((path) => path !== tree));
  const emptied = outerFirst(facts.emptied);
  const shown = [
    ...needed(facts).map((path) => ({ path, words: ['--ro-bind-try', path, path] })),
    ...facts.writable.map((path) => ({ path, words: ['--bind-try', path, path] })),
  ].filter(({ path }) => isShowable(path, facts));
  return [
    ...NAMESPACES,
    ...(facts.network ? ['--share-net'] : []),
    ...SYSTEM,
    // What lies in one that is empty already is only made.
    ...emptied.flatMap((path) => [isBelowOneOf(emptied, path) ? '--dir' : '--tmpfs', path]),
    ...shown.toSorted((a, b) => depth(a.path) - depth(b.path)).flatMap(({ words }) => words),
    ...closed.filter((path) => !isWithin(tree, path)).flatMap((path) => ['--tmpfs', path]),
    ...facts.blanked.flatMap((path) => ['--ro-bind', '/dev/null', path]),
    facts.treeWritable ? '--bind' : '--ro-bind',
    tree,
    tree,
    ...closed.filter((path) => isWithin(tree, path)).flatMap((path) => ['--tmpfs', path]),
    ...outerFirst(facts.locked).flatMap((path) => ['--ro-bind', path, path]),
    ...(facts.proxy === null ? [] : ['--ro-bind', facts.proxy, facts.proxy]),
    // What holds the tree stays open for the folders that lead to it; the rest of what is closed takes nothing.
    ...closed.filter((path) => !isWithin(path, tree)).flatMap((path) => ['--remount-ro', path]),
    '--chdir',
    facts.cwd,
  ];
}

/**
 * Of what is to be read: what would not be there otherwise. Each mount costs bubblewrap a look at all the others, and the
 * system is read-only where nothing was emptied and nobody may write.
 */
function needed(facts: SandboxFacts): string[] {
  const changed = [...facts.emptied, ...facts.writable];
  const readable = outerFirst(facts.readable.filter((path) => isShowable(path, facts)));
  return readable.filter((path) => {
    if (!changed.some((other) => isWithin(other, path))) return false;
    // A folder around it shows it, unless somebody may write in between.
    const around = readable.filter((other) => other !== path && isWithin(other, path));
    return !around.some((other) => !facts.writable.some((write) => isWithin(other, write)));
  });
}

function isBelowOneOf(folders: readonly string[], path: string): boolean {
  return folders.some((other) => other !== path && isWithin(other, path));
}

/** Showing a folder that holds what was emptied would undo it. */
function isShowable(path: string, facts: SandboxFacts): boolean {
  return path !== '/' && !facts.emptied.some((emptied) => isWithin(path, emptied));
}

export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

function outerFirst(paths: readonly string[]): string[] {
  return [...new Set(paths)].toSorted((a, b) => depth(a) - depth(b));
}

function depth(path: string): number {
  return path.split('/').length;
}
