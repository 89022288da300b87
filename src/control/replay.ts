/** A recorded run as a run of its own that could start: nothing is written here. */
import { isoTime } from '../kernel/time.ts';
import type { CassetteHeader, RunFile, Team } from '../protocol/index.ts';
import { checkBranchNamespace, resolveBase } from '../worktree/index.ts';
import { type Cassette, readCassette, recordingOf } from './cassette.ts';
import { errors } from './errors.ts';
import { readText } from './files.ts';
import { journalFolder } from './places.ts';
import { runIds } from './run-store.ts';
import type { Workspace } from './workspace.ts';

const CASSETTE_FILE = 'cassette.jsonl';
const RUN_ID_MAX = 48;

export interface PreparedReplay {
  readonly file: RunFile;
  readonly header: CassetteHeader;
  /** What lies beside `run.json`, by name. */
  readonly beside: Readonly<Record<string, string>>;
}

/** `what`: a run, or the path of a cassette. */
export async function openRecording(
  workspace: Workspace,
  what: { readonly name: string; readonly cwd: string },
): Promise<Cassette> {
  const { name, cwd } = what;
  const known = await runIds(workspace);
  if (known.includes(name)) return recordingOf(workspace, name, { redacted: false });
  if (!/[/.]/.test(name)) throw errors.unknownRun(name, known.toReversed());
  return readCassette(workspace, name.startsWith('/') ? name : `${cwd}/${name}`);
}

export async function prepareReplay(
  workspace: Workspace,
  what: { readonly name: string; readonly cwd: string },
): Promise<PreparedReplay> {
  const { deps, repository, places } = workspace;
  const { header, text } = await openRecording(workspace, what);
  const id = await freeId(workspace, header.cassette);
  const base = await resolveBase(repository, header.baseCommit).catch((cause: unknown) => {
    throw errors.noRecordedBase(header.cassette, header.baseCommit, cause);
  });
  await checkBranchNamespace(repository, id);
  const model = `replay/${header.cassette}`;
  const { home: _home, ...run } = header.run;
  const file: RunFile = {
    ...run,
    id,
    team: playedBy(header.run.team, model),
    cassettes: { [model]: CASSETTE_FILE },
    replay: { of: header.cassette, order: header.order },
    baseCommit: base,
    workspace: places.workspace,
    treesRoot: `${places.trees}/${id}`,
    ...(deps.env['HOME'] === undefined ? {} : { home: deps.env['HOME'] }),
    createdAt: isoTime(deps.clock.now()),
    troupe: deps.version,
  };
  return { file, header, beside: { [CASSETTE_FILE]: text } };
}

/** The recording that a replay was made from, when it goes on. */
export async function recordingBeside(
  workspace: Workspace,
  file: RunFile,
): Promise<CassetteHeader> {
  const [name = CASSETTE_FILE] = Object.values(file.cassettes ?? {});
  const folder = journalFolder(workspace.places, file.id).replace(/\/[^/]*$/, '');
  const text = await readText(workspace.deps.files, `${folder}/${name}`);
  if (text === null) throw errors.noRecording(`${folder}/${name}`);
  return JSON.parse(text.split('\n', 1)[0] ?? '') as CassetteHeader;
}

/** Of the models `replay/…` that a team names: what goes into the folder of its run. */
export async function cassettesFor(
  workspace: Workspace,
  team: Team,
  cwd: string,
): Promise<{
  readonly cassettes?: Readonly<Record<string, string>>;
  readonly beside: Readonly<Record<string, string>>;
}> {
  const agents = Object.values(team.agents).flatMap(({ model, fallback = [] }) => [
    model,
    ...fallback,
  ]);
  const refs = new Set([team.model, ...agents].filter((ref) => ref?.startsWith('replay/')));
  const cassettes: Record<string, string> = {};
  const beside: Record<string, string> = {};
  for (const ref of refs) {
    if (ref === null || ref === undefined) continue;
    const { text } = await openRecording(workspace, { name: ref.slice('replay/'.length), cwd });
    const name = `cassette-${Object.keys(beside).length + 1}.jsonl`;
    cassettes[ref] = name;
    beside[name] = text;
  }
  return refs.size === 0 ? { beside } : { cassettes, beside };
}

/** The team with one model for all. It is played faster than it was recorded: no wall time ends it. */
function playedBy(team: Team, model: string): Team {
  const agents = Object.entries(team.agents).map(([name, { fallback: _fallback, ...profile }]) => [
    name,
    { ...profile, model: null },
  ]);
  const worktree = { ...team.worktree, root: null };
  const budget = { ...team.budget, wallMs: null };
  return { ...team, model, budget, worktree, agents: Object.fromEntries(agents) };
}

async function freeId(workspace: Workspace, run: string): Promise<string> {
  const taken = new Set(await runIds(workspace));
  for (let count = 1; ; count += 1) {
    const tail = `-replay-${count}`;
    const id = `${run.slice(0, RUN_ID_MAX - tail.length)}${tail}`;
    if (!taken.has(id)) return id;
  }
}
