/**
 * The hooks of a run, as they are when a supervisor takes it up: the user's, the team file's (a person named it), and the
 * repository's own once a person has trusted the file that they stand in.
 */
import { formatProblem, hooksOf, parseConfig } from '../config/index.ts';
import { EXIT, systemCode, TroupeError } from '../kernel/errors.ts';
import { nearMatches } from '../kernel/ids.ts';
import { whyNot } from '../kernel/unread.ts';
import type { Hook, RunFile } from '../protocol/index.ts';
import { TOOL_NAMES } from '../tools/index.ts';
import { SMALL_BYTES_MAX } from './limits.ts';
import { readTrust } from './trust-book.ts';
import type { Workspace } from './workspace.ts';

/** Throws `control/hooks` (exit 2): a hook that would never run guards nothing. */
export async function hooksOfRun(
  workspace: Workspace,
  userConfig: string,
  file: RunFile,
): Promise<readonly Hook[]> {
  const { places } = workspace;
  const { isTrusted } = await readTrust(workspace.deps, places);
  const repository = `${places.workspace}/.troupe/config.yaml`;
  const found = [
    ...(await hooksIn(workspace, { path: `${userConfig}/config.yaml`, prefix: 'user' })),
    ...(await hooksIn(workspace, { path: repository, prefix: 'repo', isTrusted })),
    ...(file.team.hooks ?? []).map((hook) => ({ ...hook, origin: file.teamFile ?? hook.origin })),
  ];
  const ids = new Set<string>();
  for (const hook of found) {
    if (ids.has(hook.id)) throw unusable(hook, `there are two hooks called ${hook.id}`);
    ids.add(hook.id);
    for (const tool of hook.tools ?? []) checkTool(hook, tool);
  }
  return found;
}

async function hooksIn(
  { deps }: Workspace,
  from: {
    readonly path: string;
    readonly prefix: string;
    readonly isTrusted?: (hash: string) => boolean;
  },
): Promise<readonly Hook[]> {
  const { path, prefix, isTrusted } = from;
  const bytes = await deps.files.readFile(path, SMALL_BYTES_MAX).catch((error: unknown) => {
    const code = systemCode(error);
    if (['ENOENT', 'ENOTDIR'].includes(code)) return null;
    throw new TroupeError({
      code: 'control/hooks',
      message: `${path}: ${whyNot(code, SMALL_BYTES_MAX)}`,
      exit: EXIT.usage,
      cause: error,
    });
  });
  if (bytes === null) return [];
  if (isTrusted !== undefined && !isTrusted(deps.sha256(bytes))) return [];
  const parsed = parseConfig(bytes);
  if (parsed.kind === 'ok') return hooksOf(parsed.config, { prefix, origin: path });
  throw new TroupeError({
    code: 'control/hooks',
    message: parsed.problems.map((problem) => formatProblem(path, problem)).join('\n'),
    exit: EXIT.usage,
  });
}

function checkTool(hook: Hook, tool: string): void {
  if (tool.includes('*') || tool.startsWith('mcp__') || TOOL_NAMES.includes(tool)) return;
  const near = nearMatches(tool, TOOL_NAMES);
  const hint = near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`;
  throw unusable(hook, `there is no tool "${tool}"${hint}`);
}

function unusable(hook: Hook, why: string): TroupeError {
  return new TroupeError({
    code: 'control/hooks',
    message: `${hook.origin}: hook ${hook.id}: ${why}`,
    hint: 'Nothing was started: a hook that is never run would guard nothing.',
    exit: EXIT.usage,
  });
}
