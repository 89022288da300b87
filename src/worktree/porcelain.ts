/** Parsers of what git prints for machines (`-z` forms); pure. */

/** One tree as `git worktree list` tells it. */
export interface TreeInfo {
  readonly path: string;
  readonly head: string | null;
  /** Without `refs/heads/`; null when detached or bare. */
  readonly branch: string | null;
  readonly bare: boolean;
  readonly detached: boolean;
  /** Why it is locked ('' without a reason), or null. */
  readonly locked: string | null;
  /** Why git would prune it, or null. */
  readonly prunable: string | null;
}

/** `git worktree list --porcelain -z`: attributes end in NUL, a tree ends in an empty one. */
export function parseTreeList(text: string): TreeInfo[] {
  return text
    .split('\0\0')
    .filter((block) => block !== '' && block !== '\0')
    .map((block) => makeTreeInfo(block.split('\0').filter((line) => line !== '')));
}

function makeTreeInfo(lines: readonly string[]): TreeInfo {
  const attributes = new Map<string, string>();
  for (const line of lines) {
    const space = line.indexOf(' ');
    if (space === -1) attributes.set(line, '');
    else attributes.set(line.slice(0, space), line.slice(space + 1));
  }
  return {
    path: attributes.get('worktree') ?? '',
    head: attributes.get('HEAD') ?? null,
    branch: attributes.get('branch')?.replace(/^refs\/heads\//, '') ?? null,
    bare: attributes.has('bare'),
    detached: attributes.has('detached'),
    locked: attributes.get('locked') ?? null,
    prunable: attributes.get('prunable') ?? null,
  };
}

export interface StatusEntry {
  readonly path: string;
  /** `XY` of porcelain v1: index, files. */
  readonly code: string;
}

/** `git status --porcelain -z`; the old name of a rename is an entry of its own with code `R `. */
export function parseStatus(text: string): StatusEntry[] {
  const entries: StatusEntry[] = [];
  const parts = text.split('\0');
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] ?? '';
    if (part.length < 4) continue;
    const code = part.slice(0, 2);
    entries.push({ path: part.slice(3), code });
    if (!/[RC]/.test(code)) continue;
    index += 1;
    entries.push({ path: parts[index] ?? '', code });
  }
  return entries;
}

/** What `merge-tree --write-tree -z --messages` prints. */
export interface MergeReport {
  readonly tree: string;
  /** Stages (1 base, 2 ours, 3 theirs) of each path in conflict. */
  readonly stages: ReadonlyMap<string, readonly number[]>;
  readonly messages: readonly MergeMessage[];
}

export interface MergeMessage {
  readonly paths: readonly string[];
  /** Short and stable: `CONFLICT (contents)`. */
  readonly type: string;
  readonly text: string;
}

export function parseMergeTree(text: string): MergeReport {
  const parts = text.split('\0');
  const tree = parts[0] ?? '';
  const stages = new Map<string, number[]>();
  let index = 1;
  for (; index < parts.length; index += 1) {
    const match = /^\d+ [0-9a-f]+ ([123])\t(.*)$/s.exec(parts[index] ?? '');
    if (match === null) break;
    const path = match[2] ?? '';
    stages.set(path, [...(stages.get(path) ?? []), Number(match[1])]);
  }
  // An empty part stands between the entries and the messages.
  if (parts[index] === '') index += 1;
  return { tree, stages, messages: parseMessages(parts.slice(index)) };
}

function parseMessages(parts: readonly string[]): MergeMessage[] {
  const messages: MergeMessage[] = [];
  let index = 0;
  while (index < parts.length) {
    const count = Number(parts[index]);
    if (!Number.isInteger(count) || parts[index] === '') break;
    const paths = parts.slice(index + 1, index + 1 + count);
    const type = parts[index + 1 + count] ?? '';
    messages.push({ paths, type, text: (parts[index + 2 + count] ?? '').trim() });
    index += 3 + count;
  }
  return messages;
}
