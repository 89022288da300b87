/** The doctor on what runs have in git: their trees, branches, and lock files that a killed git left. */
import { counted } from '../kernel/counted.ts';
import {
  branchRef,
  findGitLocks,
  findTreeTroubles,
  findUnregistered,
  integrationBranch,
  isAncestor,
  isReachable,
  listBranches,
  type Registration,
  readRef,
  readRegistrations,
  removeTree,
  runOfBranch,
  type TreeTrouble,
} from '../worktree/index.ts';
import { fine, type Look, type Mend, wrong } from './doctor-mend.ts';
import type { RunView } from './queries.ts';
import { runIds } from './run-store.ts';
import type { Workspace } from './workspace.ts';

/** Trees that the journal of a run has, each as it was made or named. */
export async function lookAtTrees(workspace: Workspace, view: RunView): Promise<Look[]> {
  const { run, state } = view;
  const check = `worktrees of ${run}`;
  const made = [...state.trees.values()];
  const gone = state.run.ended !== null;
  const looks: Look[] = [];
  for (const trouble of await findTreeTroubles(workspace.repository, made)) {
    // Of a run that has ended nothing is owed: `troupe worktrees gc` took it away.
    if (gone && trouble.kind === 'missing' && trouble.registration === null) continue;
    const branch = made.find(({ path }) => path === trouble.path)?.branch ?? null;
    looks.push(await troubleLook(workspace, { check, run, gone, branch, trouble }));
  }
  if (looks.length === 0 && made.length > 0 && !gone) {
    return [fine(check, `${counted(made.length, 'tree')}, as made`)];
  }
  return looks;
}

async function troubleLook(
  workspace: Workspace,
  at: {
    readonly check: string;
    readonly run: string;
    readonly gone: boolean;
    readonly branch: string | null;
    readonly trouble: TreeTrouble;
  },
): Promise<Look> {
  const { check, run, trouble, branch } = at;
  const { path, kind, reason, registration } = trouble;
  const detail = `${path}: ${reason}`;
  const on = branch === null || branch === '' ? '' : ` What was committed is on ${branch}.`;
  if (kind === 'moved') return wrong(check, detail, `Put it back: mv ${trouble.at} ${path}.${on}`);
  if (kind === 'edited') {
    const next = `Nothing works in it as it is. \`git worktree repair ${path}\` or a \`git switch\` back mends what was changed by hand; else move it away, and the run makes it anew.`;
    return wrong(check, detail, `${next}${on}`);
  }
  const next = at.gone ? '' : `\`troupe resume ${run}\` makes it anew. `;
  const look = wrong(check, detail, `${next}What was not committed in it is lost.${on}`);
  if (registration === null) return look;
  const mend = await pruneMend(workspace, registration);
  return mend === null ? look : { ...look, mend };
}

/** Null when its commits are on no branch: then the registration is all that holds them. */
async function pruneMend(
  { repository }: Workspace,
  registration: Registration,
): Promise<Mend | null> {
  const { branch, adminDir } = registration;
  const head = branch === null ? null : await readRef(repository, branchRef(branch));
  const own = await repository.git
    .at({ gitDir: adminDir, workTree: repository.root })
    .lineOrNull(['rev-parse', '-q', '--verify', 'HEAD']);
  const isSaved = head !== null || (own !== null && (await isReachable(repository, own)));
  if (!isSaved) return null;
  return {
    will: `take its registration out of git (${adminDir})`,
    act: async () => {
      const outcome = await removeTree(repository, { tree: registration, exclude: [] });
      if (outcome.kind === 'absent') return 'the registration is gone';
      throw new Error(outcome.kind === 'removed' ? 'the folder was back' : outcome.detail);
    },
  };
}

/** What lies there of runs whose folder is gone, or that no journal names. */
export async function lookAtStrayTrees(
  workspace: Workspace,
  views: readonly RunView[],
): Promise<Look[]> {
  const check = 'worktrees';
  const { repository, places } = workspace;
  const known = new Set(views.flatMap(({ state }) => [...state.trees.values()].map((t) => t.path)));
  const roots = views.map(({ file }) => `${file.treesRoot}/`);
  const runs = new Set(await runIds(workspace));
  const looks: Look[] = [];
  for (const tree of await readRegistrations(repository)) {
    if (known.has(tree.path)) continue;
    const run = tree.branch === null ? null : runOfBranch(tree.branch);
    const isOurs = run !== null || tree.path.startsWith(`${places.trees}/`);
    if (!isOurs && !roots.some((root) => tree.path.startsWith(root))) continue;
    if ((await repository.deps.files.stat(tree.path)) === null) {
      const look = wrong(check, `${tree.path}: registered, and its folder is gone`, '');
      const mend = await pruneMend(workspace, tree);
      looks.push(mend === null ? look : { ...look, mend });
    } else if (run !== null && !runs.has(run)) {
      const detail = `${tree.path}: of run ${run}, which is gone`;
      looks.push(
        fine(check, detail, `Look for work in it, then \`git worktree remove ${tree.path}\`.`),
      );
    }
  }
  for (const path of await findUnregistered(repository, places.trees)) {
    if (known.has(path)) continue;
    const next =
      'Look for work in it, then remove it by hand; `git worktree repair` registers it again.';
    looks.push(wrong(check, `${path}: a tree that git does not know any more`, next));
  }
  return looks;
}

/** Branches of a run against what its journal says was merged. */
export async function lookAtBranches({ repository }: Workspace, view: RunView): Promise<Look[]> {
  const { run, state } = view;
  const check = `branches of ${run}`;
  if (state.run.startedAt === null) return [];
  const branch = integrationBranch(run);
  const tip = await readRef(repository, branchRef(branch));
  const merged = [...state.graph.nodes.values()]
    .map(({ mergedCommit }) => mergedCommit)
    .filter((commit) => commit !== null);
  const looks: Look[] = [];
  if (tip === null) {
    // A run that came to nothing leaves a branch that nobody misses.
    const last = state.run.ended?.commit ?? merged.at(-1) ?? state.run.baseCommit;
    const next = `Make it again: git branch ${branch} ${last}`;
    return merged.length === 0 && state.run.ended !== null
      ? [fine(check, `${branch} was deleted; nothing had been merged into it`)]
      : [wrong(check, `${branch} was deleted`, next)];
  }
  const lost: string[] = [];
  for (const commit of new Set(merged)) {
    const isThere = await isAncestor(repository, { ancestor: commit, of: tip }).catch(() => false);
    if (!isThere) lost.push(commit.slice(0, 12));
  }
  if (lost.length > 0) {
    const detail = `${branch} was moved by hand: it does not hold ${lost.join(', ')} any more`;
    looks.push(wrong(check, detail, `See \`git reflog ${branch}\`; git merge brings them back.`));
  }
  for (const { spec, merging } of state.graph.nodes.values()) {
    if (merging === null || view.liveness.alive) continue;
    const done = await isAncestor(repository, { ancestor: merging.to, of: tip }).catch(() => false);
    const detail = `the merge of ${spec.id} was cut ${done ? 'after' : 'before'} its branch moved`;
    const next = `\`troupe resume ${run}\` ${done ? 'notes that it is done' : 'does it, or finds it void'}.`;
    looks.push(fine(check, detail, next));
  }
  if (looks.length > 0) return looks;
  return [fine(check, `${branch} holds ${counted(merged.length, 'merged task')}`)];
}

/** Branches of runs whose folder is gone. */
export async function lookAtStrayBranches(workspace: Workspace): Promise<Look[]> {
  const runs = new Set(await runIds(workspace));
  const strays = (await listBranches(workspace.repository)).filter((branch) => {
    const run = runOfBranch(branch);
    return run !== null && !runs.has(run);
  });
  if (strays.length === 0) return [];
  const detail = `of runs whose folder is gone: ${strays.join(', ')}`;
  return [
    fine('branches', detail, `When you need them no more: git branch -D ${strays.join(' ')}`),
  ];
}

/** Of git, in trees and refs of runs that nobody works on; those that the user's own git may hold are named. */
export async function lookAtGitLocks(
  { repository }: Workspace,
  views: readonly RunView[],
): Promise<Look[]> {
  const check = 'git locks';
  const looks: Look[] = [];
  let left: readonly string[] = [];
  for (const { run, liveness } of views) {
    const locks = await findGitLocks(repository, { run });
    left = locks.left;
    if (locks.own.length === 0 || liveness.alive) continue;
    const act = async (): Promise<string> => {
      for (const path of locks.own) await repository.deps.files.remove(path);
      return 'removed';
    };
    const detail = `left by a git of ${run} that was killed: ${locks.own.join(', ')}`;
    looks.push({ ...wrong(check, detail, ''), mend: { will: 'remove them', act } });
  }
  for (const path of left) {
    const next = 'When no git of yours is running, remove it: no merge lands before.';
    looks.push(fine(check, `${path}: of a git that runs now, or that was killed`, next));
  }
  return looks;
}
