/**
 * What of a repository can be trusted: the files that tell agents what they may do, who they are and what they can call.
 * Until a person trusts their content they are data that nobody follows (a policy's deny and ask rules excepted).
 */
import { formatProblem, parseConfig, parsePolicy } from '../config/index.ts';
import { EXIT, systemCode, TroupeError } from '../kernel/errors.ts';
import { checkPolicy } from '../permissions/index.ts';
import type { PermissionRule, PolicyFile, TrustRecord } from '../protocol/index.ts';
import type { Trustable, TrustKind } from '../protocol/views.ts';
import { listFolder } from './files.ts';
import { readSmall as readBounded } from './folders.ts';
import { TRUST_BYTES_MAX, TRUST_DEPTH_MAX, TRUST_FILES_MAX } from './limits.ts';
import { trustableSkills } from './skills.ts';
import { readTrust } from './trust-book.ts';
import type { Workspace } from './workspace.ts';

export type { Trustable, TrustKind } from '../protocol/views.ts';

const FOLDERS: readonly (readonly [string, TrustKind])[] = [
  ['.troupe/agents', 'agents'],
  ['.claude/agents', 'agents'],
];
const FILES: readonly (readonly [string, TrustKind])[] = [
  ['.troupe/policy.yaml', 'policy'],
  ['.troupe/config.yaml', 'config'],
  ['.mcp.json', 'mcp'],
];

/** Every file of the main checkout that trust is about, in the order of their paths. */
export async function listTrustable(workspace: Workspace): Promise<readonly Trustable[]> {
  const { deps, places } = workspace;
  const { isTrusted } = await readTrust(deps, places);
  const found = FILES.map(([path, kind]): [string, TrustKind] => [path, kind]);
  for (const [folder, kind] of FOLDERS) {
    for (const path of await filesBelow(workspace, folder, 0)) found.push([path, kind]);
  }
  const rows: Trustable[] = [];
  for (const [path, kind] of found.slice(0, TRUST_FILES_MAX)) {
    const bytes = await readSmall(workspace, path);
    if (bytes === null) continue;
    const hash = deps.sha256(bytes);
    rows.push({ path, kind, hash, trusted: isTrusted(hash), allows: opensOf(kind, bytes) });
  }
  // A skill is a folder, trusted as a whole.
  for (const { path, hash } of await trustableSkills(deps, places)) {
    rows.push({ path, kind: 'skills', hash, trusted: isTrusted(hash), allows: [] });
  }
  return rows.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Files that trust would be about if they could be used, each with its place and why it can't. */
export async function untrustable(workspace: Workspace): Promise<readonly string[]> {
  const { deps, places } = workspace;
  const told: string[] = [];
  const paths = FILES.map(([path]) => path);
  for (const [folder] of FOLDERS) {
    const stat = await deps.files.stat(`${places.workspace}/${folder}`).catch(() => null);
    if (stat !== null && stat.kind !== 'directory') told.push(`${folder}: it is no folder`);
    if (stat?.kind !== 'directory') continue;
    const names = await listFolder(deps.files, `${places.workspace}/${folder}`);
    paths.push(...names.slice(0, TRUST_FILES_MAX).map((name) => `${folder}/${name}`));
  }
  for (const path of paths) {
    const whole = `${places.workspace}/${path}`;
    const kind = (await deps.files.stat(whole).catch(() => null))?.kind;
    if (kind === undefined || kind === 'directory') continue;
    const read = await readBounded(deps.files, whole, { links: false, max: TRUST_BYTES_MAX });
    if (typeof read === 'string') told.push(`${path}: ${read}`);
    else if (path === '.troupe/policy.yaml') {
      const parsed = parsePolicy(read, checkPolicy);
      if (parsed.kind === 'ok') continue;
      told.push(...parsed.problems.map((problem) => formatProblem(path, problem)));
    }
  }
  return told;
}

/** The rows that a person named, by path or by folder; all without names. Throws `control/trust` for one that is none. */
export function chooseTrustable(
  rows: readonly Trustable[],
  named: readonly string[],
): readonly Trustable[] {
  if (named.length === 0) return rows;
  const chosen = new Set<Trustable>();
  for (const name of named) {
    const folder = `${name.replace(/\/+$/, '')}/`;
    const fits = rows.filter((row) => row.path === name || row.path.startsWith(folder));
    if (fits.length === 0) throw nothingAt(name, rows);
    for (const row of fits) chosen.add(row);
  }
  return [...chosen];
}

/** The words to record: only those that change something. */
export function trustWords(
  rows: readonly Trustable[],
  what: TrustRecord['what'],
): Omit<TrustRecord, 'at'>[] {
  return rows
    .filter((row) => row.trusted !== (what === 'trusted'))
    .map(({ hash, path }) => ({ what, hash, path }));
}

/** One line for a run that begins, when something of the repository is not followed; null otherwise. */
export async function untrustedNote(workspace: Workspace): Promise<string | null> {
  const rows = (await listTrustable(workspace)).filter(
    (row) => !row.trusted && row.allows.length > 0,
  );
  if (rows.length === 0) return null;
  const names = rows.map((row) => row.path);
  const shown =
    names.length > 3
      ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`
      : names.join(', ');
  return `note: not trusted, so nothing in it allows anything: ${shown}. See \`troupe trust --list\`, then \`troupe trust\``;
}

async function filesBelow(workspace: Workspace, folder: string, depth: number): Promise<string[]> {
  const { files } = workspace.deps;
  const root = workspace.places.workspace;
  if (depth > TRUST_DEPTH_MAX) return [];
  const found: string[] = [];
  const stat = await files.stat(`${root}/${folder}`).catch(() => null);
  if (stat?.kind !== 'directory') return [];
  for (const name of (await listFolder(files, `${root}/${folder}`)).toSorted()) {
    const path = `${folder}/${name}`;
    const one = await files.stat(`${root}/${path}`).catch(() => null);
    if (one?.kind === 'directory') found.push(...(await filesBelow(workspace, path, depth + 1)));
    else if (one?.kind === 'file') found.push(path);
    if (found.length >= TRUST_FILES_MAX) break;
  }
  return found;
}

async function readSmall({ deps, places }: Workspace, path: string): Promise<Uint8Array | null> {
  const whole = `${places.workspace}/${path}`;
  try {
    const stat = await deps.files.stat(whole);
    if (stat?.kind !== 'file' || stat.size > TRUST_BYTES_MAX) return null;
    return await deps.files.readFile(whole, TRUST_BYTES_MAX);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(systemCode(error))) return null;
    throw error;
  }
}

function opensOf(kind: TrustKind, bytes: Uint8Array): readonly string[] {
  if (kind === 'config') return hooksOpen(bytes);
  if (kind !== 'policy') return KIND_OPENS[kind];
  const parsed = parsePolicy(bytes, checkPolicy);
  if (parsed.kind === 'problems') return [];
  return policyOpens(parsed.policy);
}

const KIND_OPENS: Readonly<Record<TrustKind, readonly string[]>> = {
  policy: [],
  config: [],
  agents: [],
  skills: [],
  mcp: ['starts the tool servers that it names'],
};

/** What else a config file says needs no trust. */
function hooksOpen(bytes: Uint8Array): readonly string[] {
  const parsed = parseConfig(bytes);
  if (parsed.kind === 'problems') return [];
  const { hooks = [] } = parsed.config;
  return hooks.map(({ on, run }) => `runs ${run} (hook, ${on})`);
}

function policyOpens(file: PolicyFile): readonly string[] {
  const profiles = Object.values(file.profiles);
  const rules = [...file.rules, ...profiles.flatMap((profile) => profile.rules)];
  const modes = [file.mode, ...profiles.map((profile) => profile.mode)].filter(
    (mode) => mode !== undefined && mode !== 'ask' && mode !== 'locked',
  );
  return [
    ...rules.filter((rule) => rule.effect === 'allow').map(ruleText),
    ...modes.map((mode) => `mode ${mode}`),
    ...file.lift.map((id) => `lifts the built-in rule ${id}`),
    ...(file.defaults.interactive === 'allow' ? ['allows what has no rule'] : []),
  ];
}

function ruleText(rule: PermissionRule): string {
  const { id, tool, argv, path, host, server, name } = rule;
  const tools = typeof tool === 'string' ? tool : tool.join(', ');
  const about = { argv, path, host, server, name };
  const given = Object.entries(about).filter(([, value]) => value !== undefined);
  const shown = given.map(([key, value]) => `${key} ${JSON.stringify(value)}`).join(' ');
  return `allows ${tools}${shown === '' ? '' : ` with ${shown}`} (${id})`;
}

function nothingAt(name: string, rows: readonly Trustable[]): TroupeError {
  const there = rows.map((row) => row.path).join(', ');
  return new TroupeError({
    code: 'control/trust',
    message: `${name}: there is nothing to trust`,
    hint: rows.length === 0 ? 'The repository has no such files.' : `There is: ${there}`,
    exit: EXIT.usage,
  });
}
