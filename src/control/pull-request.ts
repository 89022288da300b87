/**
 * `troupe pr`: title and text of a pull request of a run's branch, and the commands that open it on the user's forge.
 *
 * Invariant: nothing leaves this machine unless `open` is asked for; what is run then is what `commands` show.
 */
import { EXIT } from '../kernel/errors.ts';
import type { ExecResult } from '../kernel/ports.ts';
import { shellWord } from '../kernel/shell-word.ts';
import { shortened } from '../kernel/shortened.ts';
import { branchRef, integrationBranch, readHead, readIntegration } from '../worktree/index.ts';
import { errors } from './errors.ts';
import { TOOL_OUTPUT_MAX, TOOL_TIMEOUT_MS } from './limits.ts';
import { titleOf, warningOf } from './merge.ts';
import { type RunView, rowOf, tasksOf, viewRun } from './queries.ts';
import type { Workspace } from './workspace.ts';

export interface PullRequestQuery {
  readonly run: string;
  /** Branch to merge into; left out: what the remote calls its head, else the current branch. */
  readonly base: string | undefined;
  /** Left out: `origin`, or the only one. */
  readonly remote: string | undefined;
  /** Push, and open it with the forge's own tool. */
  readonly open: boolean;
}

export type Forge = 'github' | 'gitlab';

export interface PullRequest {
  readonly run: string;
  readonly title: string;
  /** Markdown. */
  readonly body: string;
  readonly head: string;
  readonly base: string;
  /** Null when the repository has none: then there are no commands. */
  readonly remote: string | null;
  /** As the address of the remote tells; null when it tells nothing. */
  readonly forge: Forge | null;
  /** To be typed in the repository, in this order. */
  readonly commands: readonly string[];
  /** What the forge's tool printed; null when nothing was opened. */
  readonly opened: string | null;
  /** That the run did not end well. */
  readonly warning: string | null;
}

/**
 * Throws `control/unknown-run`, `control/no-remote`, and with `open` also `control/no-forge-tool` (nothing was pushed)
 * and `control/command-failed`.
 */
export async function pullRequest(
  workspace: Workspace,
  query: PullRequestQuery,
): Promise<PullRequest> {
  const view = await viewRun(workspace, query.run, 'pr');
  if (view.liveness.alive) throw errors.running(view.run);
  await readIntegration(workspace.repository, view.run);
  const remote = await chooseRemote(workspace, query.remote);
  const head = integrationBranch(view.run);
  const base = query.base ?? (await baseBranch(workspace, remote?.name ?? null));
  const forge =
    remote === null ? null : (remote.urls.map(forgeOf).find((one) => one !== null) ?? null);
  const title = view.redactor.text(titleOf(view.file.team));
  const body = view.redactor.text(bodyOf(view));
  const words: Words = { run: view.run, title, head, base, remote: remote?.name ?? '' };
  const commands = remote === null ? [] : [pushLine(words), ...openLines(words, forge)];
  if (query.open && remote === null) throw errors.noRemote(undefined, []);
  const opened = query.open ? await open(workspace, { words, forge, body }) : null;
  return {
    run: view.run,
    title,
    body,
    head,
    base,
    remote: remote?.name ?? null,
    forge,
    commands,
    opened,
    warning: warningOf(view),
  };
}

interface Words {
  readonly run: string;
  readonly title: string;
  readonly head: string;
  readonly base: string;
  readonly remote: string;
}

function bodyOf(view: RunView): string {
  const goal = (view.file.team.goal ?? '').trim();
  const rows = tasksOf(view);
  const nodes = [...view.state.graph.nodes.values()];
  const done = rows.filter((row) => row.state === 'done');
  const open = rows.filter((row) => row.state !== 'done');
  const told = done.map((row) => {
    const summary = nodes.find(({ spec }) => spec.id === row.id)?.summary?.trim() ?? '';
    const text =
      summary === '' || summary === row.title ? '' : `: ${summary.split('\n').join(' ')}`;
    return `- **${row.title}** (\`${row.id}\`)${text}`;
  });
  const not = open.map((row) => {
    return `- ${row.title} (\`${row.id}\`) is ${row.state}${row.reason === null ? '' : `: ${firstLine(row.reason.text)}`}`;
  });
  const checks = checksOf(view);
  return [
    ...(goal === '' ? [] : [goal, '']),
    ...(told.length === 0 ? [] : ['## Changes', '', ...told, '']),
    ...(not.length === 0 ? [] : ['## Not done', '', ...not, '']),
    ...(checks.length === 0 ? [] : ['## Checks', '', ...checks, '']),
    `Made by a team of coding agents with Troupe, run \`${view.run}\`${costText(view)}.`,
    '',
  ].join('\n');
}

/** Evidence of the runtime, not claims of a model: the gates of the end, on the commit that they ran on, and of each task. */
function checksOf(view: RunView): string[] {
  const ofRun = view.state.run.gates.filter(
    ({ commit }) => commit === view.state.run.ended?.commit,
  );
  const lines = ofRun.map(
    ({ gate, ok, commit }) => `- \`${gate}\` ${ok ? 'passed' : 'FAILED'} on ${commit.slice(0, 12)}`,
  );
  const nodes = [...view.state.graph.nodes.values()];
  for (const { spec, gates } of nodes) {
    for (const { gate, ok, commit } of gates) {
      const verdict = ok ? 'passed' : 'FAILED';
      lines.push(
        `- \`${gate}\` ${verdict} for \`${spec.id}\` on ${commit?.slice(0, 12) ?? 'no change'}`,
      );
    }
  }
  return lines;
}

function costText(view: RunView): string {
  const { costUsd } = rowOf(view).usage;
  return costUsd > 0 ? `, for $${costUsd.toFixed(2)}` : '';
}

/** A reason may quote all that a gate printed. */
function firstLine(text: string): string {
  return shortened(text.split('\n')[0] ?? '', REASON_MAX);
}

const REASON_MAX = 200;

interface Remote {
  readonly name: string;
  readonly urls: readonly string[];
}

async function chooseRemote(
  workspace: Workspace,
  wanted: string | undefined,
): Promise<Remote | null> {
  const { stdout } = await workspace.repository.git.run({ args: ['remote'] });
  const names = stdout.split('\n').filter((name) => name !== '');
  if (wanted !== undefined && !names.includes(wanted)) throw errors.noRemote(wanted, names);
  const only = names.length === 1 ? names[0] : undefined;
  const name = wanted ?? (names.includes('origin') ? 'origin' : only);
  if (name === undefined) return null;
  const asked: string[] = [];
  // As it is written and as git rewrites it (`insteadOf`): either may be the one with the forge's name.
  for (const args of [
    ['remote', 'get-url', '--push', '--', name],
    ['config', '--get', `remote.${name}.url`],
  ]) {
    asked.push((await workspace.repository.git.run({ args, codes: [0, 1, 2] })).stdout.trim());
  }
  return { name, urls: asked };
}

/** As the remote's own HEAD tells, which a clone has; else the branch that is checked out. */
async function baseBranch(workspace: Workspace, remote: string | null): Promise<string> {
  const { git } = workspace.repository;
  if (remote !== null) {
    const head = await git.run({
      args: ['symbolic-ref', '--quiet', '--short', `refs/remotes/${remote}/HEAD`],
      codes: [0, 1, 128],
    });
    const name = head.stdout.trim();
    if (head.code === 0 && name.startsWith(`${remote}/`)) return name.slice(remote.length + 1);
  }
  return (await readHead(workspace.repository)).branch ?? 'main';
}

/** By the host in the address, whatever its form: `https://`, `ssh://`, `git@host:path`. */
function forgeOf(url: string): Forge | null {
  const host = /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([^/:]+)/i.exec(url)?.[1]?.toLowerCase() ?? '';
  if (host.includes('github')) return 'github';
  return host.includes('gitlab') ? 'gitlab' : null;
}

function pushArgs({ remote, head }: Words): string[] {
  return ['push', remote, `${branchRef(head)}:${branchRef(head)}`];
}

function openArgs({ head, base, title }: Words, forge: Forge, body: string | null): string[] {
  return forge === 'github'
    ? ['pr', 'create', '--head', head, '--base', base, '--title', title, '--body-file', '-']
    : [
        'mr',
        'create',
        '--source-branch',
        head,
        '--target-branch',
        base,
        '--title',
        title,
        '--yes',
        ...(body === null ? [] : ['--description', body]),
      ];
}

const TOOL: Readonly<Record<Forge, string>> = { github: 'gh', gitlab: 'glab' };

function pushLine(words: Words): string {
  return shellLine(['git', ...pushArgs(words)]);
}

function openLines(words: Words, forge: Forge | null): string[] {
  if (forge === null) return [];
  const line = shellLine([TOOL[forge], ...openArgs(words, forge, null)]);
  const body = `troupe pr ${words.run} --body`;
  return [forge === 'github' ? `${body} | ${line}` : `${line} --description "$(${body})"`];
}

const shellLine = (args: readonly string[]): string => args.map(shellWord).join(' ');

/** The tool is looked for before anything is pushed. The person's own git, with hooks and keys: it is their push. */
async function open(
  workspace: Workspace,
  of: { readonly words: Words; readonly forge: Forge | null; readonly body: string },
): Promise<string> {
  const { words, forge, body } = of;
  if (forge === null) throw errors.noForgeTool('the address of the remote tells no forge');
  const tool = TOOL[forge];
  try {
    await outside(workspace, { file: tool, args: ['--version'] });
  } catch (thrown) {
    throw errors.noForgeTool(`\`${tool}\` does not run here`, thrown);
  }
  await outside(workspace, { file: 'git', args: pushArgs(words) });
  const args = openArgs(words, forge, body);
  const done = await outside(workspace, { file: tool, args, stdin: body });
  return done.stdout.trim();
}

async function outside(
  { deps, places }: Workspace,
  command: { readonly file: string; readonly args: readonly string[]; readonly stdin?: string },
): Promise<ExecResult> {
  const done = await deps.exec.run({
    ...command,
    cwd: places.workspace,
    env: deps.env,
    timeoutMs: TOOL_TIMEOUT_MS,
    outputMax: TOOL_OUTPUT_MAX,
  });
  if (done.code === EXIT.ok) return done;
  const why = done.timedOut ? 'it took too long' : done.stderr.trim() || `exit ${done.code}`;
  throw errors.outsideFailed(shellLine([command.file, ...command.args.slice(0, 2)]), why);
}
